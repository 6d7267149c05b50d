/* Logarithms of float64 by tables from which each lane loads its elements; for log.
 *
 * ln x = k*ln 2 + ln c + ln(1 + r), x = 2^k m, m in [191/256, 191/128), r = (m - c)/c, |r| <= 1/128.
 * 1. Take k and m from the bits of x: with 1/2 + 1/128 added to the mantissa's fraction, modulo 1, the exponent changes
 *    at 191/128 instead of 2.
 * 2. j, the upper six bits of that fraction, selects c, 1/c and ln c from tables. c is near 3/4 + j/128 for j < 32, and
 *    near 1/2 + j/64 above. For j = 32, c is 1: near x = 1, the first two terms are 0, and r is exact. j comes from the
 *    bits of x, not from m, so that the loads, for which the rest has to wait, begin early.
 * 3. m - c is exact, and so is k*LOG_LN2_HI + ln c: both are multiples of 2^-43. Each c was found by random
 *    search: c * (1/c) differs from 1 by less than 2^-63, and ln c from a multiple of 2^-43 by less than 2^-62.9; next
 *    to c = 1, where logarithms are small, by less than 2^-64.7 and 2^-66. With FMA, r = m * (1/c) - 1, which needs
 *    no c. The c of j = 31 is so large that r < 2^-8 up to the border with j = 32: a larger r is rounded more coarsely.
 * 4. ln(1 + r) = r + r^2 q(r), q a minimax polynomial of degree 5; its error is less than 4e-18 of the result.
 * Up to the last addition, errors are less than the step of the logarithm from one x to the next, so results never
 * decrease.
 * Source: Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM
 * Transactions on Mathematical Software 16, 1990. */
#pragma once

#include "math/log.h"

#if SIMD_LOOKUP && !SIMD_TABLES && defined IS_64BIT
/* clang-format off */
static const element log_long_table[64][2] = { /* 1/c, ln c */
    {0x1.5555cdc316564p0, -0x1.26978a5c51p-2}, {0x1.51d18d4b78bp0, -0x1.1bfcca8124p-2},
    {0x1.4e5e881c6b70ap0, -0x1.117a68f93fp-2}, {0x1.4afdbbbac58d7p0, -0x1.071482ce898p-2},
    {0x1.47af4659dbae4p0, -0x1.f9993e795cp-3}, {0x1.446f4078c4096p0, -0x1.e52f36f897p-3},
    {0x1.41426aa43e356p0, -0x1.d10ae6f9f5p-3}, {0x1.3e213c0ffe034p0, -0x1.bcfe66246p-3},
    {0x1.3b1234f49c017p0, -0x1.a9352bf8dp-3}, {0x1.38124c489deddp0, -0x1.959dc26811p-3},
    {0x1.352125d341f5ap0, -0x1.8237b0eb7ap-3}, {0x1.323f006a76fd2p0, -0x1.6f067b7d8dp-3},
    {0x1.2f6972e7b1432p0, -0x1.5bfbce4d68p-3}, {0x1.2ca062e111979p0, -0x1.491879cf2cp-3},
    {0x1.29e2bea9c0acp0, -0x1.3656a9cb3p-3}, {0x1.27340f6fb13e8p0, -0x1.23d03db88fp-3},
    {0x1.24925c2c626fap0, -0x1.11796d592bp-3}, {0x1.21fcdcd7ae10ap0, -0x1.fe9cc2f81cp-4},
    {0x1.1f710b5eb5d48p0, -0x1.da7d583a3p-4}, {0x1.1cef4312a7501p0, -0x1.b69becfe5cp-4},
    {0x1.1a7aa813f4e72p0, -0x1.93286af146p-4}, {0x1.18123fcf017a2p0, -0x1.701815de6cp-4},
    {0x1.15b14c20bd546p0, -0x1.4d2838b27cp-4}, {0x1.135b4cc6f5c48p0, -0x1.2a8e6049f2p-4},
    {0x1.111105ed1773cp0, -0x1.0858e43e4p-4}, {0x1.0ed07c0391bb3p0, -0x1.ccd9e4371p-5},
    {0x1.0c9710f38df54p0, -0x1.894a264e64p-5}, {0x1.0a694911c1a69p0, -0x1.4690740eep-5},
    {0x1.0840d0f213cep0, -0x1.03ef25d774p-5}, {0x1.0623ca1f9766dp0, -0x1.844f2b1fc8p-6},
    {0x1.041010a991de3p0, -0x1.01f97f43p-6}, {0x1.0201816ebd77fp0, -0x1.ff81176d2p-8}, {1, 0},
    {0x1.f81f716b4532dp-1, 0x1.fc0ebed34p-7}, {0x1.f07c92e676965p-1, 0x1.f81ac133f8p-6},
    {0x1.e9132e64b63bfp-1, 0x1.7744464c48p-5}, {0x1.e1e180cb5f8e1p-1, 0x1.f0a97e8064p-5},
    {0x1.dae7884087e09p-1, 0x1.3410823a6ap-4}, {0x1.d41bf1ed79bd4p-1, 0x1.6f18a3d48cp-4},
    {0x1.cd850385eac2ap-1, 0x1.a92a54608cp-4}, {0x1.c71cabd0ee46cp-1, 0x1.e26e6c8a7p-4},
    {0x1.c0e21d8098dd4p-1, 0x1.0d704135f8p-3}, {0x1.bad00282768abp-1, 0x1.295323e6dep-3},
    {0x1.b4e6a8688f19dp-1, 0x1.44d981657bp-3}, {0x1.af264c5345839p-1, 0x1.5ffd1c854ap-3},
    {0x1.a990417b655a7p-1, 0x1.7ab25501a3p-3}, {0x1.a41a4eb35ac02p-1, 0x1.95256a24ecp-3},
    {0x1.9ec8210a2026p-1, 0x1.af4071c6fcp-3}, {0x1.999b2f47b206p-1, 0x1.c8f790171cp-3},
    {0x1.948ce866e4ad7p-1, 0x1.e2671e5f3fp-3}, {0x1.8f9dc0d6c7357p-1, 0x1.fb890a8da7p-3},
    {0x1.8accdd5d4c258p-1, 0x1.0a2eeffea68p-2}, {0x1.861766107624dp-1, 0x1.16785ed059p-2},
    {0x1.81805fa12007bp-1, 0x1.229721ba1cp-2}, {0x1.7d06888e5a115p-1, 0x1.2e8c9cafcd8p-2},
    {0x1.78a39b458e562p-1, 0x1.3a67f732cp-2}, {0x1.745ee430e8b07p-1, 0x1.4613c89e568p-2},
    {0x1.702c552a52a1fp-1, 0x1.51af8b97ec8p-2}, {0x1.6c181409693bap-1, 0x1.5d18239cc38p-2},
    {0x1.6816ae2505dfp-1, 0x1.686c02b0708p-2}, {0x1.642d593e35829p-1, 0x1.739b1ed998p-2},
    {0x1.6058a905ebbc4p-1, 0x1.7eadd87f4fp-2}, {0x1.5c977a0cc9ce1p-1, 0x1.89a641e7aa8p-2},
    {0x1.58eea3bc2ab87p-1, 0x1.9474cbadef8p-2}};
#if !SIMD_FUSED
static const element log_centers[64] = { /* c */
    0x1.7fff7884b6abep-1, 0x1.83fec92fe2061p-1, 0x1.87ff6cade5e85p-1, 0x1.8bff9e3e0b776p-1,
    0x1.8ffe8aa0abdb8p-1, 0x1.940056ffb0df4p-1, 0x1.97fe8651861d7p-1, 0x1.9c0205b1f4911p-1,
    0x1.a001f61768032p-1, 0x1.a4019fc780ccdp-1, 0x1.a800e8ff1e31p-1, 0x1.abfee333f2669p-1,
    0x1.affe5be6b4a4p-1, 0x1.b3ff039896532p-1, 0x1.b801f623c1558p-1, 0x1.bc017b29cebddp-1,
    0x1.bfffe2dc0b2a5p-1, 0x1.c3fdd3e79d23dp-1, 0x1.c7fec9d732c13p-1, 0x1.cc01dd81fa815p-1,
    0x1.d00186ec81949p-1, 0x1.d3fec150b7d2ep-1, 0x1.d801057b6b0d4p-1, 0x1.dc0214f206a9ap-1,
    0x1.e00013953d931p-1, 0x1.e3fdf3ddf68ddp-1, 0x1.e80007537ccffp-1, 0x1.ebfdbf08d1b36p-1,
    0x1.f00257d477359p-1, 0x1.f4020ca515005p-1, 0x1.f8005db5719bap-1, 0x1.fc04f92e6653dp-1, 1,
    0x1.04000889253f6p0, 0x1.07ffc26342926p0, 0x1.0bfff53be072bp0, 0x1.100036cd3f9aep0,
    0x1.13ff2058f4446p0, 0x1.1800c8eb64bacp0, 0x1.1c003e2d0d7eap0, 0x1.1fffdb45cde64p0,
    0x1.23fee8bffb9eep0, 0x1.27ffb4529ddbbp0, 0x1.2c00feadccb13p0, 0x1.30017f312c7dep0,
    0x1.33ff101c23e53p0, 0x1.37fff64d0c874p0, 0x1.3c0098948ade4p0, 0x1.3ffec31136d1ap0,
    0x1.43fe858011d6bp0, 0x1.47fea41926c1ap0, 0x1.4bfee8794e287p0, 0x1.5000d8975ddb4p0,
    0x1.5400ffa96d362p0, 0x1.57ff79f6af291p0, 0x1.5c0115f241d2fp0, 0x1.5ffe4c4bdf5b9p0,
    0x1.6401a248d73efp0, 0x1.67feb13169349p0, 0x1.6bffd2c6a8c71p0, 0x1.6fff254bbbb1p0,
    0x1.73ff64cc78759p0, 0x1.78011d7bcd95fp0, 0x1.7bfe582f73bffp0};
#endif
/* clang-format on */

/* q(r) of step 4 above, with short chains of dependent instructions; the longest begins with `third`. */
INLINE vec log_long_table_minimax(vec r) {
    vec third = v_fma(r, v_set(0x1.2496bd2967b4p-3), v_set(-0x1.555c58fcb9341p-3)), square = r * r;
    vec second = v_fma(r, v_set(0x1.999999943ec5bp-3), v_set(-0x1.fffffff1f181ep-3));
    vec first = v_fma(r, v_set(0x1.555555555555dp-2), v_set(-0x1.000000000001cp-1));
    return v_fma(square, v_fma(square, third, second), first);
}

/* The bits of LOG_INTEGERS + i are those of LOG_INTEGERS plus i. */
#define LOG_INTEGERS 0x1p52

/* ln x - n ln 2 for a normal x > 0; `bias` is LOG_INTEGERS + EXPONENT_BIAS + n. */
INLINE vec log_by_long_table(vec x, vec bias) {
    /* In the mantissa's fraction, 1/2 is 2^51 and 1/128 is 2^45. */
    vbits shifted = v_bits(x) + b_set((INT64_C(1) << 51) + (INT64_C(1) << 45));
    vbits fraction = b_and(shifted, b_set((INT64_C(1) << 52) - 1)), j = (vbits)vu64_shift_right((vu64)fraction, 46);
    vec inverse, logarithm;
    vf64_lookup_pair(log_long_table, j, &inverse, &logarithm);
    vec m = v_from_bits(fraction + v_bits(v_set(191.0 / 256)));
    vbits exponent = (vbits)vu64_shift_right((vu64)shifted, 52) + v_bits(v_set(LOG_INTEGERS));
    vec k = v_from_bits(exponent) - bias;
#if SIMD_FUSED
    vec r = v_fma(m, inverse, v_set(-1));
#else
    vec r = (m - vf64_lookup(log_centers, j)) * inverse;
#endif
    vec low = v_fma(k, v_set(LOG_LN2_LO), r);
    return v_fma(k, v_set(LOG_LN2_HI), logarithm) + v_fma(r * r, log_long_table_minimax(r), low);
}

/* ln x for any x. A denormal x is first scaled by 2^54. Inlined for the reason in ops/exp.h. */
INLINE vec log_by_long_table_special(vec x) {
    vmask denormal = v_lt(x, v_set(MIN_NORMAL));
    vec bias = v_select(denormal, v_set(LOG_INTEGERS + EXPONENT_BIAS + 54), v_set(LOG_INTEGERS + EXPONENT_BIAS));
    return log_special(x, log_by_long_table(v_select(denormal, x * v_set(0x1p54), x), bias));
}
#endif
