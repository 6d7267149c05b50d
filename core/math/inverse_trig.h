/* What asin and acos share, and what atan and atan2 share. */
#pragma once

#include "simd/simd.h"

/* pi/2 less what rounding it to float32 adds. */
static const float HALF_PI = 0x1.921fb6p0f, HALF_PI_REST = -0x1.777a5cp-25f;

typedef struct arc {
    vf32 angle; /* asin s */
    vm32 is_complement;
} arc;

/* |x| = sin a. Up to 1/2, s = |x|; beyond, s = sqrt((1 - |x|) / 2), which is the sine of half of pi/2 - a, the
 * complement. asin s = s + s^3 p(s^2), s <= 1/2: relative error 4.9e-9; minimax polynomial by Remez exchange. NaN where
 * |x| > 1, from the root. */
INLINE arc arc_sin(vf32 x) {
    vf32 size = vf32_abs(x);
    arc result;
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

/* atan t = t + t^3 p(t^2), 0 <= t <= 1: relative error 1.7e-8; minimax polynomial by Remez exchange. */
INLINE vf32 arc_tan(vf32 t) {
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
