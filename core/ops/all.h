/* Whether every element is nonzero. NaN is nonzero. The result for no elements is true. */
#pragma once

#include "reduce/reduction.h"

DECIDED_REDUCTION(all, 1, vmask, uint8_t, m_set(1), v_is_nonzero(x), a &b, total != 0, REDUCE_DECIDED_BY_FALSE)
