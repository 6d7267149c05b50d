/* gelu(x) = x P(x), P the distribution function of the standard normal distribution.
 * 1. x P(x) = max(x, 0) - |x| P(-|x|). The second term is small and smooth, and below 3e-7 for |x| >= CUTOFF.
 * 2. On [0, CUTOFF], |x| P(-|x|) = |x| ((CUTOFF - |x|) p(|x|))^power. The power takes the place of an exponential, and
 *    the factor (CUTOFF - |x|) makes the result exactly x or -0 beyond CUTOFF, for -inf too.
 * 3. p is a minimax polynomial for the absolute error of the result, by Remez exchange, each step linearized around
 *    the previous solution.
 * The absolute errors below include rounding and hold on all floats. */
#pragma once

#include "simd/simd.h"

#define GELU_CUTOFF 0x1.6b851ep+2f
#define GELU_TANH_CUTOFF 0x1.89999ap+2f

/* Step 2 above with power = 4; absolute error < 4e-7. p is a polynomial in n = -|x|, factored into a cubic and a
 * quartic. The quartic is computed as y (y + n + a) + b, where y is quadratic in n: this takes one multiplication less
 * than Horner's rule for p, and half the latency. Source of that form: Motzkin, in Knuth, The Art of Computer
 * Programming, volume 2, 1997, section 4.6.4. */
INLINE vf32 op_gelu(vf32 x) {
    const vf32 cutoff = vf32_set(GELU_CUTOFF), minus_zero = vf32_set(-0.0f);
    vf32 n = vf32_at_least(vf32_from_bits(vi32_or(vf32_bits(x), vf32_bits(minus_zero))), vf32_set(-GELU_CUTOFF));
    vf32 p = vf32_fma(n, vf32_set(-0x1.b257ecp-19f), vf32_set(0x1.c4e1a4p-16f));
    p = vf32_fma(p, n, vf32_set(-0x1.9c3ba6p-14f));
    p = vf32_fma(p, n, vf32_set(0x1.49f242p-13f));
    vf32 y = vf32_fma(n + vf32_set(0x1.2e40ap+3f), n, vf32_set(0x1.14a9dcp+5f));
    y = vf32_fma(y + (n + vf32_set(-0x1.084066p+3f)), y, vf32_set(0x1.e95936p+4f));
    p = (cutoff + n) * p * y;
    p = p * p;
    return vf32_fma(n * p, p, vf32_at_least(x, minus_zero));
}

/* Step 2 above with power = 8; absolute error < 4e-7. Here, P(x) = (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2. */
INLINE vf32 op_gelu_tanh(vf32 x) {
    const vf32 cutoff = vf32_set(GELU_TANH_CUTOFF);
    vf32 size = vf32_at_most(vf32_abs(x), cutoff);
    vf32 p = vf32_set(-0x1.43e896p-21f);
    p = vf32_fma(p, size, vf32_set(0x1.3c4bf2p-17f));
    p = vf32_fma(p, size, vf32_set(-0x1.ad3e04p-15f));
    p = vf32_fma(p, size, vf32_set(0x1.d29a6cp-14f));
    p = vf32_fma(p, size, vf32_set(0x1.8e43b2p-15f));
    p = vf32_fma(p, size, vf32_set(-0x1.4d1048p-11f));
    p = vf32_fma(p, size, vf32_set(-0x1.e343e2p-9f));
    p = vf32_fma(p, size, vf32_set(0x1.33439cp-7f));
    p = vf32_fma(p, size, vf32_set(0x1.315e94p-3f));
    p = p * (cutoff - size);
    p = p * p;
    p = p * p;
    return vf32_at_least(x, vf32_set(-0.0f)) - size * (p * p);
}
