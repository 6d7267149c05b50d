/* Whether both operands are nonzero. NaN is nonzero. */
#pragma once

#include "element.h"

INLINE vmask op_logical_and(vec x1, vec x2) { return m_and(v_is_nonzero(x1), v_is_nonzero(x2)); }
