#pragma once

#include "element.h"

#if IS_FLOATING
INLINE vec op_sign(vec x) {
    const vec zero = v_set(0);
    vec one_sided = v_select(v_gt(x, zero), v_set(1), zero);
    vec sign = v_select(v_lt(x, zero), v_set(-1), one_sided);
    return v_select(v_isnan(x), x, sign);
}
#else
INLINE vec op_sign(vec x) {
    const vec zero = v_set(0);
    return v_from_bits(m_to_bits(v_gt(x, zero)) - m_to_bits(v_lt(x, zero)));
}
#endif
