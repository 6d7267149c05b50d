/* asin and atan on a reduced range, for asin, acos, atan and atan2. */
#pragma once

#include "math/constants.h"
#include "math/polynomial.h"

#define PI_2_HI BY_PRECISION(PI_2_HI_F32, PI_2_HI_F64)
#define PI_2_LO BY_PRECISION(PI_2_LO_F32, PI_2_LO_F64)

typedef struct asin_parts {
    vec angle;           /* asin s */
    vmask is_complement; /* true where asin |x| = pi/2 - 2 * angle; elsewhere, asin |x| = angle */
} asin_parts;

/* Computes asin |x| from asin s, 0 <= s <= 1/2. If |x| > 1, the square root makes the result NaN.
 * 1. |x| <= 1/2: s = |x|. Otherwise s = sqrt((1 - |x|)/2) = sin((pi/2 - asin |x|)/2).
 * 2. asin s = s + s^3 p(s^2), p a minimax polynomial by Remez exchange: relative error 4.9e-9 (float64: degree 12,
 *    1.4e-18). */
INLINE asin_parts asin_reduce(vec x) {
    vec size = v_abs(x);
    asin_parts result;
    result.is_complement = v_gt(size, v_set(0.5f));
    vec half = v_set(0.5f) - v_set(0.5f) * size;
    vec z = v_select(result.is_complement, half, size * size);
    vec s = v_select(result.is_complement, v_sqrt(half), size);
#ifdef IS_64BIT
    static const element p[] = {0x1.0b49ba492d71fp-5, -0x1.5807db4ff36cbp-6, 0x1.63a46e103b66ep-6, 0x1.e5d8cfc4a6f4cp-9,
                                0x1.613ea3d2087b3p-7, 0x1.75851fcc8ea8cp-7,  0x1.ca1f9beace117p-7, 0x1.1c49efad8c217p-6,
                                0x1.6e8bdeeb84d8dp-6, 0x1.f1c71a9479abbp-6,  0x1.6db6db7213f57p-5, 0x1.333333332e106p-4,
                                0x1.5555555555577p-3};
#else
    static const element p[] = {0x1.595c8cp-5f, 0x1.8c3e2ap-6f, 0x1.747bbap-5f, 0x1.330204p-4f, 0x1.5555c8p-3f};
#endif
    result.angle = v_fma(POLYNOMIAL(z, p), z * s, s);
    return result;
}

/* atan t for 0 <= t <= 1, as t + t^3 p(t^2), p a minimax polynomial by Remez exchange: relative error 1.7e-8
 * (float64: degree 20, 1.5e-17). */
INLINE vec atan_minimax(vec t) {
    vec z = t * t;
#ifdef IS_64BIT
    static const element p[] = {-0x1.226351947fdf9p-17, 0x1.b3abd1900088ap-14, -0x1.36d8d775299dfp-11,
                                0x1.1a034af79e19cp-9,   -0x1.6fd023a987b6bp-8, 0x1.72db33ba128bp-7,
                                -0x1.30f97fadb9df8p-6,  0x1.ac77e9b9164c9p-6,  -0x1.0c93f9517d80cp-5,
                                0x1.3904472607792p-5,   -0x1.5f241dad6db4bp-5, 0x1.84b44e6eb88abp-5,
                                -0x1.aeda51a4369e6p-5,  0x1.e1d4870a9de51p-5,  -0x1.11103267ec008p-4,
                                0x1.3b139bce93084p-4,   -0x1.745d15d031639p-4, 0x1.c71c71b62917bp-4,
                                -0x1.2492492456ab7p-3,  0x1.9999999998c27p-3,  -0x1.555555555554dp-2};
#else
    static const element p[] = {0x1.7ebdd4p-9f, -0x1.0c2180p-6f, 0x1.61f4e6p-5f, -0x1.3552c4p-4f,
                                0x1.b4df40p-4f, -0x1.230a9cp-3f, 0x1.9978ecp-3f, -0x1.5554dcp-2f};
#endif
    return v_fma(POLYNOMIAL(z, p), z * t, t);
}
