/* Whether any element is nonzero. NaN is nonzero. The result for no elements is false. */
#pragma once

#include "reduce/reduction.h"

DECIDED_REDUCTION(any, 1, vmask, uint8_t, m_set(0), v_is_nonzero(x), a | b, total != 0, REDUCE_DECIDED_BY_TRUE)
