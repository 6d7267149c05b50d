/* Computes tanh |x|, then copies the sign of x. For |x| >= 9.02 (float64: 19.07), it rounds to 1.
 *
 * tanh_by_exponential; error < 2 ulp: tanh |x| = (1 - e^y) / (1 + e^y), y = -2|x|.
 * 1. e^y = 2^-k (1 + d), d = e^r - 1, r = y + k ln 2. ln 2 need not be split in two: if k is large, d hardly affects
 *    the result.
 * 2. Multiply numerator and denominator by 2^k/2: (2^k/2 - 1/2) - d/2 and (2^k/2 + 1/2) + d/2. Each is rounded once,
 *    and the difference never cancels: for k = 0 the numerator is -d/2.
 * 3. d/2 is computed directly, from r/2. In float64, its two terms are subtracted one by one, and the rounding error of
 *    the first subtraction with the second term.
 *
 * tanh_by_table, of float32 where vf32_lookup_32 is one instruction; error < 1 ulp. It needs no division and takes 0.8
 * times as long as tanh_by_exponential.
 * 1. Split each interval [2^e, 2^(e + 1)) in [2^-4, 9.1] into quarters; the lowest quarter is extended down to 0.
 * 2. tanh |x| = polynomial of degree 5 in |x| - m. m is 0 in the lowest quarter, and near the middle of any other,
 *    chosen so that tanh m is within 1/1000 ulp of a float. |x| - m is exact.
 * 3. Coefficients by least squares, weighted for the smallest relative error, each rounded before the next was fitted:
 *    relative error 1.5e-8. */
#pragma once

#include "math/exp.h"

/* Returns tanh |x|, which is never -0. Step 1 uses half of y: r/2 = -|x| + k ln2/2. */
INLINE vec tanh_by_exponential(vec x) {
    const vec half = v_set(0.5f), magic = v_set(EXPONENT_MAGIC - 1);
    vec negative = v_from_bits(b_or(v_bits(x), v_bits(v_set(-0.0f))));
    vec bounded = v_at_least(negative, v_set(BY_PRECISION(-10, -20)));
    vec k_magic = v_fma(bounded, v_set(-2 * BY_PRECISION(LOG2_E_F32, LOG2_E_F64)), magic);
    vec half_r = v_fma(k_magic - magic, v_set(BY_PRECISION(LN2_F32, LN2_F64) / 2), bounded);
    vec scale = v_power_of_two(k_magic); /* 2^k / 2 */
#ifdef IS_64BIT
    vec curve = exp_minimax(half_r, 2) * (half_r * half_r), above = scale - half, line = above - half_r;
    vec lost = (above - line) - half_r; /* 0 for k = 0, and exact for k > 0 */
    return (line + (lost - curve)) / ((scale + half) + (half_r + curve));
#else
    vec half_d = v_fma(exp_minimax(half_r, 2), half_r * half_r, half_r);
    return ((scale - half) - half_d) / ((scale + half) + half_d);
#endif
}

#if SIMD_TABLES && !defined IS_64BIT
INLINE vec tanh_by_table(vec x) {
    /* Each line has an entry for each quarter of one interval [2^e, 2^(e + 1)). The low bits of the exponent select the
     * line, so the lines from 2^1 to 2^3 come before those from 2^-4 to 2^0. */
    /* clang-format off */
    static const float midpoint[32] = {
        0x1.1fea62p1f, 0x1.5ff05ep1f, 0x1.9feb98p1f, 0x1.dffadap1f,
        0x1.1fe926p2f, 0x1.5fe8bcp2f, 0x1.9fef0ep2f, 0x1.e0176ep2f,
        0x1.11b108p3f, 0, 0, 0,
        0, 0x1.5fe9a2p-4f, 0x1.9fed1ep-4f, 0x1.e0030ep-4f,
        0x1.1fe8d8p-3f, 0x1.5febecp-3f, 0x1.9fe99cp-3f, 0x1.dfe95cp-3f,
        0x1.1fe9fp-2f, 0x1.5fe958p-2f, 0x1.9fe89cp-2f, 0x1.dff1cap-2f,
        0x1.1fea7ep-1f, 0x1.5ff3b8p-1f, 0x1.9feb3cp-1f, 0x1.dfeaa6p-1f,
        0x1.1fe932p0f, 0x1.5fef1ep0f, 0x1.9febaap0f, 0x1.dfe98p0f,
    };
    static const float c[6][32] = {
        {0x1.f4bc14p-1f, 0x1.fbd406p-1f, 0x1.fe75fcp-1f, 0x1.ff6f0cp-1f,
         0x1.ffdf9p-1f, 0x1.fffb9cp-1f, 0x1.ffff68p-1f, 0x1.ffffecp-1f,
         0x1.fffffep-1f, 0, 0, 0,
         0, 0x1.5f0c9ep-4f, 0x1.9e80a6p-4f, 0x1.ddd396p-4f,
         0x1.1e071cp-3f, 0x1.5c7f88p-3f, 0x1.9a499ep-3f, 0x1.d750ecp-3f,
         0x1.188f32p-2f, 0x1.52ae98p-2f, 0x1.8a73f6p-2f, 0x1.bfa2ecp-2f,
         0x1.04f884p-1f, 0x1.314ff6p-1f, 0x1.577d94p-1f, 0x1.77ce6p-1f,
         0x1.9e4cf8p-1f, 0x1.c27104p-1f, 0x1.d9c122p-1f, 0x1.e87494p-1f},
        {0x1.64863cp-5f, 0x1.09e80ep-6f, 0x1.896c6cp-8f, 0x1.21befep-9f,
         0x1.037976p-11f, 0x1.1900b4p-14f, 0x1.3002bp-17f, 0x1.478598p-20f,
         0x1.3ff0ep-23f, 0, 0, 0,
         1, 0x1.fc3d38p-1f, 0x1.fac1b8p-1f, 0x1.f90844p-1f,
         0x1.f6036p-1f, 0x1.f12ca8p-1f, 0x1.eb738p-1f, 0x1.e4e22ap-1f,
         0x1.d990cep-1f, 0x1.c7fddp-1f, 0x1.b406dcp-1f, 0x1.9e28b4p-1f,
         0x1.7afb22p-1f, 0x1.49f03p-1f, 0x1.198f2p-1f, 0x1.d851bcp-2f,
         0x1.6182f6p-2f, 0x1.cedcf8p-3f, 0x1.26897ep-3f, 0x1.700d5ap-4f},
        {-0x1.5cab84p-5f, -0x1.07b988p-6f, -0x1.8836c4p-8f, -0x1.216774p-9f,
         -0x1.03164cp-11f, -0x1.18a4c6p-14f, -0x1.2fa998p-17f, -0x1.be191cp-20f,
         -0x1.20ed36p-21f, 0, 0, 0,
         0x1.01e608p-25f, -0x1.5c79dep-4f, -0x1.9a40a8p-4f, -0x1.d75204p-4f,
         -0x1.187308p-3f, -0x1.5267e8p-3f, -0x1.89d1f4p-3f, -0x1.be5bp-3f,
         -0x1.037f9cp-2f, -0x1.2da1fcp-2f, -0x1.4fec0ap-2f, -0x1.6a1852p-2f,
         -0x1.8256eep-2f, -0x1.897e34p-2f, -0x1.79c8dep-2f, -0x1.5aae4p-2f,
         -0x1.1e0e88p-2f, -0x1.9736fap-3f, -0x1.10895p-3f, -0x1.5f2096p-4f},
        {0x1.bc574ap-6f, 0x1.59e5cep-7f, 0x1.03e7fap-8f, 0x1.8104a4p-10f,
         0x1.594cf2p-12f, 0x1.762fa4p-15f, 0x1.94dba2p-18f, 0x1.b1aebap-21f,
         0x1.8a867cp-24f, 0, 0, 0,
         -0x1.55563cp-2f, -0x1.49e82p-2f, -0x1.48bad2p-2f, -0x1.438be4p-2f,
         -0x1.3aa92p-2f, -0x1.2e9118p-2f, -0x1.1fbf12p-2f, -0x1.10581ap-2f,
         -0x1.e9251ap-3f, -0x1.9878fcp-3f, -0x1.42bf6p-3f, -0x1.d7047ep-4f,
         -0x1.be0294p-5f, 0x1.d5683ap-7f, 0x1.06f5a6p-4f, 0x1.841b36p-4f,
         0x1.c68a96p-4f, 0x1.97ef16p-4f, 0x1.33fef6p-4f, 0x1.a898ep-5f},
        {-0x1.96469cp-7f, -0x1.51a4f8p-8f, -0x1.038e56p-9f, -0x1.83b53cp-11f,
         -0x1.699bbp-13f, -0x1.88425cp-16f, -0x1.a80d2ep-19f, 0x1.6866bap-20f,
         0x1.4acaa8p-20f, 0, 0, 0,
         0x1.e8a074p-14f, 0x1.59952ep-4f, 0x1.419ebep-5f, 0x1.dc41f4p-5f,
         0x1.7389bap-4f, 0x1.a5b226p-4f, 0x1.e622eep-4f, 0x1.17d076p-3f,
         0x1.32aeaep-3f, 0x1.4f80dp-3f, 0x1.5c2684p-3f, 0x1.584e4ep-3f,
         0x1.3a1044p-3f, 0x1.e96f76p-4f, 0x1.47590cp-4f, 0x1.634d1ep-5f,
         0x1.e7a50ep-9f, -0x1.59bec8p-6f, -0x1.9bced2p-6f, -0x1.55c10ep-6f},
        {0x1.04a85p-8f, 0x1.f66beap-10f, 0x1.946406p-11f, 0x1.333aa2p-12f,
         0x1.1fb0f4p-14f, 0x1.38adfcp-17f, 0x1.528dcp-20f, 0x1.c18cc2p-23f,
         0x1.2a05a6p-24f, 0, 0, 0,
         0x1.0e5e54p-3f, -0x1.0f9558p4f, 0x1.e1cba6p3f, 0x1.c34fd6p2f,
         -0x1.31441ap0f, -0x1.3f489cp-3f, -0x1.4953ecp0f, 0x1.75d448p0f,
         0x1.c25856p-6f, 0x1.22ee78p-5f, 0x1.3a30fcp-4f, -0x1.126c6ep-4f,
         -0x1.4ad8a4p-5f, -0x1.dde42ep-5f, -0x1.fed75ep-5f, -0x1.b81358p-5f,
         -0x1.075c7ep-5f, -0x1.386634p-7f, 0x1.74c21ap-10f, 0x1.2c9f82p-8f},
    };
    /* clang-format on */
    vec size = v_at_most(v_abs(x), v_set(9.1f));
    vbits quarter = b_shift_right(v_bits(v_at_least(size, v_set(0x1p-4f))), 21);
    vec distance = size - vf32_lookup_32(midpoint, quarter);
    vec sum = vf32_lookup_32(c[5], quarter);
#pragma GCC unroll 5
    for (int i = 4; i >= 0; i--) {
        sum = v_fma(sum, distance, vf32_lookup_32(c[i], quarter));
    }
    return sum;
}
INLINE vec tanh_of_size(vec x) { return tanh_by_table(x); }
#else
INLINE vec tanh_of_size(vec x) { return tanh_by_exponential(x); }
#endif

INLINE vec op_tanh(vec x) {
    vec size = tanh_of_size(x);
    return v_from_bits(b_or(v_bits(size), b_and(v_bits(x), v_bits(v_set(-0.0f)))));
}
