/* Whether x is zero. NaN is nonzero. */
#pragma once

#include "element.h"

INLINE vmask op_logical_not(vec x) { return m_not(v_is_nonzero(x)); }
