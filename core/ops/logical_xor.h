/* Whether exactly one operand is nonzero. NaN is nonzero. */
#pragma once

#include "element.h"

INLINE vmask op_logical_xor(vec x1, vec x2) { return m_xor(v_is_nonzero(x1), v_is_nonzero(x2)); }
