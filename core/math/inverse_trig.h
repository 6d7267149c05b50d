/* asin and atan on a reduced range, for asin, acos, atan and atan2. */
#pragma once

#include "math/constants.h"
#include "simd/simd.h"

typedef struct asin_parts {
    vf32 angle;         /* asin s */
    vm32 is_complement; /* true where asin |x| = pi/2 - 2 * angle; elsewhere, asin |x| = angle */
} asin_parts;

/* Computes asin |x| from asin s, 0 <= s <= 1/2. If |x| > 1, the square root makes the result NaN.
 * 1. |x| <= 1/2: s = |x|. Otherwise s = sqrt((1 - |x|)/2) = sin((pi/2 - asin |x|)/2).
 * 2. asin s = s + s^3 p(s^2), p a minimax polynomial by Remez exchange: relative error 4.9e-9. */
INLINE asin_parts asin_reduce(vf32 x) {
    vf32 size = vf32_abs(x);
    asin_parts result;
    result.is_complement = vf32_gt(size, vf32_set(0.5f));
    vf32 half = vf32_set(0.5f) - vf32_set(0.5f) * size;
    vf32 z = vf32_select(result.is_complement, half, size * size);
    vf32 s = vf32_select(result.is_complement, vf32_sqrt(half), size);
    vf32 p = vf32_set(0x1.595c8cp-5f);
    p = vf32_fma(p, z, vf32_set(0x1.8c3e2ap-6f));
    p = vf32_fma(p, z, vf32_set(0x1.747bbap-5f));
    p = vf32_fma(p, z, vf32_set(0x1.330204p-4f));
    p = vf32_fma(p, z, vf32_set(0x1.5555c8p-3f));
    result.angle = vf32_fma(p, z * s, s);
    return result;
}

/* atan t for 0 <= t <= 1, as t + t^3 p(t^2), p a minimax polynomial by Remez exchange: relative error 1.7e-8. */
INLINE vf32 atan_minimax(vf32 t) {
    vf32 z = t * t;
    vf32 p = vf32_set(0x1.7ebdd4p-9f);
    p = vf32_fma(p, z, vf32_set(-0x1.0c2180p-6f));
    p = vf32_fma(p, z, vf32_set(0x1.61f4e6p-5f));
    p = vf32_fma(p, z, vf32_set(-0x1.3552c4p-4f));
    p = vf32_fma(p, z, vf32_set(0x1.b4df40p-4f));
    p = vf32_fma(p, z, vf32_set(-0x1.230a9cp-3f));
    p = vf32_fma(p, z, vf32_set(0x1.9978ecp-3f));
    p = vf32_fma(p, z, vf32_set(-0x1.5554dcp-2f));
    return vf32_fma(p, z * t, t);
}
