/* One number from one register, by the halving tree: lane i with lane i + n, for n = lanes / 2 ... 1. The same tree on
 * every instruction set, because registers are combined by halves before it starts. */
#pragma once

#include "simd/lanes.h"

#define REDUCE(name, type, element, combined)     \
    INLINE element name(type x) {                 \
        for (int n = VF32_LANES / 2; n; n /= 2) { \
            type half = type##_slide_down(x, n);  \
            x = combined;                         \
        }                                         \
        return type##_first(x);                   \
    }

REDUCE(vf32_reduce_add, vf32, float, x + half)
REDUCE(vf32_reduce_mul, vf32, float, x *half)
REDUCE(vf32_reduce_minimum, vf32, float, vf32_minimum(x, half))
REDUCE(vf32_reduce_maximum, vf32, float, vf32_maximum(x, half))
REDUCE(vi32_reduce_add, vi32, int32_t, x + half)
REDUCE(vi32_reduce_min, vi32, int32_t, vi32_min(x, half))
REDUCE(vi32_reduce_max, vi32, int32_t, vi32_max(x, half))
