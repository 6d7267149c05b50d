/* Reductions of one register to a number by the halving tree: combine lane i with lane i + n, for n = lanes/2 ... 1.
 * Callers with several registers first combine these by halves, so the tree over all elements is the same on every
 * instruction set. */
#pragma once

#include "simd/shuffles.h"

#define DEFINE_REDUCE(name, type, element, lane_count, combined) \
    INLINE element type##_##name(type x) {                       \
        for (int n = lane_count / 2; n; n /= 2) {                \
            type half = type##_slide_down(x, n);                 \
            x = combined;                                        \
        }                                                        \
        return type##_first(x);                                  \
    }

DEFINE_REDUCE(reduce_add, vf32, float, VF32_LANES, x + half)
DEFINE_REDUCE(reduce_add, vi32, int32_t, VF32_LANES, x + half)
DEFINE_REDUCE(reduce_add, vf64, double, VF64_LANES, x + half)
DEFINE_REDUCE(reduce_add, vi64, int64_t, VF64_LANES, x + half)
DEFINE_REDUCE(reduce_add, vu32, uint32_t, VF32_LANES, x + half)
DEFINE_REDUCE(reduce_add, vu64, uint64_t, VF64_LANES, x + half)
DEFINE_REDUCE(reduce_maximum, vf32, float, VF32_LANES, vf32_maximum(x, half))
DEFINE_REDUCE(reduce_maximum, vf64, double, VF64_LANES, vf64_maximum(x, half))

INLINE int vm8_any(vm8 m) { return vm32_any(vi32_ne((vi32)m, vi32_set(0))); }
INLINE int vm16_any(vm16 m) { return vm8_any((vm8)m); }
