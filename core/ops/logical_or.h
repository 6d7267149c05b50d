/* Whether at least one operand is nonzero. NaN is nonzero. */
#pragma once

#include "element.h"

INLINE vmask op_logical_or(vec x1, vec x2) { return m_or(v_is_nonzero(x1), v_is_nonzero(x2)); }
