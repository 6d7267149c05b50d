/* erf |x| = 1 - e^y, y = ln erfc |x|, with the sign of x. Error < 3.2 ulp.
 * 1. y = -|x| q(|x|) on [0, 4], q a minimax polynomial for the relative error of the result, by Remez exchange: 5.2e-8.
 *    For |x| >= 3.92 the result is 1. In float64, the interval is [0, 5.95], the degree 24 and the error 1.4e-17.
 * 2. e^y = 2^k (1 + d), d = e^r - 1, with k and r of math/exp.h.
 * 3. erf |x| = -(2^k d + (2^k - 1)), where nothing cancels: for k = 0 the sum is d. The code leaves out the minus,
 *    because the sign of x is copied to the result. */
#pragma once

#include "math/exp.h"

INLINE vec op_erf(vec x) {
    const vec one = v_set(1);
    vec size = v_at_most(v_abs(x), v_set(BY_PRECISION(4, 5.95)));
#ifdef IS_64BIT
    static const element q[] = {
        0x1.c39d503ad5f64p-51,  -0x1.5ad3cbe7aed28p-45, 0x1.f1f7012a636bbp-41,  -0x1.bbb67411a9549p-37,
        0x1.1287a2f4b2d58p-33,  -0x1.f34dc94dcfae5p-31, 0x1.57712c7b25c8dp-28,  -0x1.68237f4a71261p-26,
        0x1.1a537beef0143p-24,  -0x1.306f92db3a94cp-23, 0x1.269b3d69467aep-23,  0x1.6928ecab03244p-22,
        -0x1.d37d7353d79ap-20,  0x1.7c8643e2e55eap-19,  0x1.c9511609d6bcfp-19,  -0x1.f2afd525a7461p-16,
        0x1.0e7f9c8d00888p-14,  0x1.b22bc117d91f5p-16,  -0x1.35654f975c955p-11, 0x1.bca67bd0addb3p-10,
        -0x1.b6b68bee13c8ap-13, -0x1.39668593d7d7bp-6,  0x1.a4f4e2a1b207dp-4,   0x1.45f306dc9c897p-1,
        0x1.20dd750429b6dp0};
#else
    static const element q[] = {0x1.2b9552p-15f, -0x1.6ca538p-12f, 0x1.3262d8p-10f, 0x1.3e5818p-12f,
                                -0x1.3d7d82p-6f, 0x1.a5301p-4f,    0x1.45f26cp-1f,  0x1.20dd76p+0f};
#endif
    exp_parts parts = exp_reduce(-(size * POLYNOMIAL(size, q)), v_set(EXPONENT_MAGIC));
    vec scale = v_power_of_two(parts.k_magic);
    return v_copysign(v_fma(scale, exp_expm1(parts.r), scale - one), x);
}
