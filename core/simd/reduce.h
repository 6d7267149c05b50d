/* Reductions of one register to a number by the halving tree: combine lane i with lane i + n, for n = lanes/2 ... 1.
 * Callers with several registers first combine these by halves, so the tree over all elements is the same on every
 * instruction set. */
#pragma once

#include "simd/lanes.h"

#define DEFINE_REDUCE(name, combined)             \
    INLINE float name(vf32 x) {                   \
        for (int n = VF32_LANES / 2; n; n /= 2) { \
            vf32 half = vf32_slide_down(x, n);    \
            x = combined;                         \
        }                                         \
        return vf32_first(x);                     \
    }

DEFINE_REDUCE(vf32_reduce_add, x + half)
DEFINE_REDUCE(vf32_reduce_maximum, vf32_maximum(x, half))
