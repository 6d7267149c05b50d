/* Logarithms of float64 by tables from which each lane loads its elements; for log.
 *
 * ln x = k*ln 2 + ln c + ln(1 + r), x = 2^k m, m in [3/4, 3/2), r = (m - c)/c, |r| < 0.0108.
 * 1. Take k and m from the bits of x.
 * 2. j = round(64 m), from 48 to 96, selects c, 1/c and ln c from tables. For j = 64, c is 1: near x = 1, the first two
 *    terms are 0, and r is exact.
 * 3. m - c is exact, and so is k*LOG_LN2_HI + ln c: both are multiples of 2^-43. Each c is a float near j/64, found by
 *    random search: c * (1/c) differs from 1 by less than 2^-63, and ln c from a multiple of 2^-43 by less than
 *    2^-62.2; next to c = 1, where logarithms are small, by less than 2^-65. With FMA, r = m * (1/c) - 1, which needs
 *    no c.
 * 4. ln(1 + r) = r + r^2 q(r), q a minimax polynomial of degree 6; its error is less than 2e-19 of the result.
 * Up to the last addition, errors are less than the step of the logarithm from one x to the next, so results never
 * decrease.
 * Source: Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM
 * Transactions on Mathematical Software 16, 1990. */
#pragma once

#include "math/log.h"

#if SIMD_LOOKUP && !SIMD_TABLES && defined IS_64BIT
/* clang-format off */
static const element log_long_table[49][2] = { /* 1/c, ln c */
    {0x1.5545fc160770cp0, -0x1.2668144c55p-2}, {0x1.4e50a73a37fc5p0, -0x1.114fe772a58p-2},
    {0x1.47aa5d948d295p0, -0x1.f97a8f89fep-3}, {0x1.4158cc6531444p0, -0x1.d19990abc5p-3},
    {0x1.3b22af76f17dp0, -0x1.a9a045fc4ap-3}, {0x1.353b26efac301p0, -0x1.82e3f167c6p-3},
    {0x1.2f63887603d05p0, -0x1.5bd3df9141p-3}, {0x1.29fa74cf7797dp0, -0x1.36f9a84be6p-3},
    {0x1.24786dae7fa6fp0, -0x1.10c3dfe7eep-3}, {0x1.1f7750bbe1a2ap0, -0x1.dad6b37392p-4},
    {0x1.1a84b287d1468p0, -0x1.93ba00658ep-4}, {0x1.15c2b94f5fcdep0, -0x1.4e293ba05cp-4},
    {0x1.112606d501854p0, -0x1.0993e5c49cp-4}, {0x1.0ca56348e293ep0, -0x1.8afee9daa8p-5},
    {0x1.0845d4df25db8p0, -0x1.048a9ecef8p-5}, {0x1.0405988485796p0, -0x1.fecbc0c69p-7},
    {1, 0}, {0x1.f822da9129b81p-1, 0x1.fb310cecfp-7},
    {0x1.f08544b67b963p-1, 0x1.f6fbd82968p-6}, {0x1.e8f086e1030edp-1, 0x1.7988d0a48p-5},
    {0x1.e1be2c43bfcfp-1, 0x1.f3023200ap-5}, {0x1.daf4411760454p-1, 0x1.33a2c9ce82p-4},
    {0x1.d427d6ce02619p-1, 0x1.6eb0922fa8p-4}, {0x1.cd7cad9276535p-1, 0x1.a9744fec72p-4},
    {0x1.c71c4b5d0fc0ap-1, 0x1.e271d09d3p-4}, {0x1.c0f56f54ea8a1p-1, 0x1.0d181e1719p-3},
    {0x1.bab9c483629fep-1, 0x1.29ba051dc6p-3}, {0x1.b4fa0e8e1bd1fp-1, 0x1.447e944d06p-3},
    {0x1.af0fcf5b55b3bp-1, 0x1.6067f16ee6p-3}, {0x1.a99affb78c6d8p-1, 0x1.7a7ea24f78p-3},
    {0x1.a42aebded1684p-1, 0x1.94d46d8d81p-3}, {0x1.9ebb6d9106eadp-1, 0x1.af7f290102p-3},
    {0x1.9987498f2cedep-1, 0x1.c95b0eb9d6p-3}, {0x1.9491adcc457dap-1, 0x1.e24ef74eb2p-3},
    {0x1.8f91b76dcdc7bp-1, 0x1.fbc6bb7411p-3}, {0x1.8ad0f874a0541p-1, 0x1.0a2449d1488p-2},
    {0x1.8603fcba19d5bp-1, 0x1.16ab54b87ep-2}, {0x1.818ab7dc158c1p-1, 0x1.227ba7a7368p-2},
    {0x1.7d13014a1d249p-1, 0x1.2e6b18d0aa8p-2}, {0x1.78b65785b7ee4p-1, 0x1.3a35087fe9p-2},
    {0x1.745dfa03795e7p-1, 0x1.46164c98f6p-2}, {0x1.703486eb9f114p-1, 0x1.5198c15c758p-2},
    {0x1.6c151f75095f2p-1, 0x1.5d20737ef9p-2}, {0x1.680f0ffd452e3p-1, 0x1.6881aca9758p-2},
    {0x1.642aa7e420244p-1, 0x1.73a2dcbf798p-2}, {0x1.605eaf12de2fcp-1, 0x1.7e9c57174a8p-2},
    {0x1.5cab19a17f85bp-1, 0x1.896c9e965c8p-2}, {0x1.58fe817fe6d0ap-1, 0x1.9445b29aadp-2},
    {0x1.555f73539683bp-1, 0x1.9f13e5445a8p-2}};
#if !SIMD_FUSED
static const element log_centers[49] = { /* c */
    0x1.8011452e05e4ap-1, 0x1.880fb293c5016p-1, 0x1.900488d152476p-1, 0x1.97e21b9acc3b7p-1,
    0x1.9fec35460f7c6p-1, 0x1.a7dd4111ac00ap-1, 0x1.b006c84f39c71p-1, 0x1.b7def2b2d803bp-1,
    0x1.c0279b8cecfe8p-1, 0x1.c7f4d751da7bcp-1, 0x1.cff1093b776adp-1, 0x1.d7e3688273613p-1,
    0x1.dfdb2ad156f1ep-1, 0x1.e7e6035e89ca5p-1, 0x1.eff8ee0cf67b6p-1, 0x1.f814a8a4eb7edp-1,
    1, 0x1.03fe4639409c9p0, 0x1.07fb22ed67f2ep0, 0x1.0c12f3ee0b2b7p0,
    0x1.101429823f5e9p0, 0x1.13f7bbcb05d1dp0, 0x1.17f9abc8a7034p0, 0x1.1c055f6afc4f8p0,
    0x1.2000184f1e156p0, 0x1.23f2580f513dp0, 0x1.280e933b5dbf2p0, 0x1.2bf3ad33192b6p0,
    0x1.30115b49bb0a9p0, 0x1.33f749db8585ep0, 0x1.37f3a010cfc38p0, 0x1.3c0a460499a48p0,
    0x1.400e4f2beb681p0, 0x1.43fab35c2ecd2p0, 0x1.48088589ab789p0, 0x1.4bfb74a01964ep0,
    0x1.501191bcd7ba1p0, 0x1.53f7e039a042cp0, 0x1.57f437dd46f5ep0, 0x1.5befc733d91cdp0,
    0x1.5fff29a939c8dp0, 0x1.63f9b6076dc55p0, 0x1.68019d47418acp0, 0x1.6c078646135a9p0,
    0x1.7001ed8b62b25p0, 0x1.73f908da40554p0, 0x1.77ebf40c59f13p0, 0x1.7becde5baf928p0,
    0x1.7ff49e9851363p0};
#endif
/* clang-format on */

/* q(r) of step 4 above, with short chains of dependent instructions. */
INLINE vec log_long_table_minimax(vec r) {
    vec square = r * r;
    vec first = v_fma(r, v_set(0x1.55555555557a6p-2), v_set(-0.5));
    vec second = v_fma(r, v_set(0x1.9999995f4f04bp-3), v_set(-0x1.00000000006b5p-2));
    vec third = v_fma(r, v_set(0x1.249f5c4c046e5p-3), v_set(-0x1.555554f8868c1p-3));
    third = v_fma(square, v_set(-0x1.000edba8b1263p-3), third);
    return v_fma(square, v_fma(square, third, second), first);
}

/* The bits of LOG_INTEGERS + i are those of LOG_INTEGERS plus i. */
#define LOG_INTEGERS 0x1p52

/* ln x - n ln 2 for a normal x > 0; `bias` is LOG_INTEGERS + EXPONENT_BIAS + n. */
INLINE vec log_by_long_table(vec x, vec bias) {
    /* Adding 1/4 to the mantissa's fraction, modulo 1, makes the exponent change at 3/2 instead of 2. */
    const vbits quarter = b_set(INT64_C(1) << 51), fraction = b_set((INT64_C(1) << 52) - 1);
    const vbits three_quarters = b_set(0x3fe8000000000000);
    vbits shifted = v_bits(x) + quarter;
    vec m = v_from_bits(b_and(shifted, fraction) + three_quarters);
    vbits exponent = (vbits)vu64_shift_right((vu64)shifted, 52) + v_bits(v_set(LOG_INTEGERS));
    vec k = v_from_bits(exponent) - bias;
    vbits j = b_and(v_bits(m + v_set(0x1.8p46 - 0.75)), b_set(63)); /* less 48 */
    vec inverse, logarithm;
    vf64_lookup_pair(log_long_table, j, &inverse, &logarithm);
#if SIMD_FUSED
    vec r = v_fma(m, inverse, v_set(-1));
#else
    vec r = (m - vf64_lookup(log_centers, j)) * inverse;
#endif
    vec low = v_fma(k, v_set(LOG_LN2_LO), r);
    return v_fma(k, v_set(LOG_LN2_HI), logarithm) + v_fma(r * r, log_long_table_minimax(r), low);
}

/* ln x for any x. A denormal x is first scaled by 2^54. */
RARE vec log_by_long_table_special(vec x) {
    vmask denormal = v_lt(x, v_set(MIN_NORMAL));
    vec bias = v_select(denormal, v_set(LOG_INTEGERS + EXPONENT_BIAS + 54), v_set(LOG_INTEGERS + EXPONENT_BIAS));
    return log_special(x, log_by_long_table(v_select(denormal, x * v_set(0x1p54), x), bias));
}
#endif
