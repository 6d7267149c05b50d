/* gelu(x) = x P(x), P the distribution function of the standard normal distribution.
 * 1. x P(x) = max(x, 0) - |x| P(-|x|). The second term is small and smooth, and below 3e-7 for |x| >= CUTOFF.
 * 2. On [0, CUTOFF], |x| P(-|x|) = |x| ((CUTOFF - |x|) p(|x|))^power. The power takes the place of an exponential, and
 *    the factor (CUTOFF - |x|) makes the result exactly x or -0 beyond CUTOFF, for -inf too.
 * 3. p is a minimax polynomial for the absolute error of the result, by Remez exchange, each step linearized around
 *    the previous solution.
 * The absolute errors below include rounding and hold on all floats. */
#pragma once

#include "ops/erf.h"
#include "ops/sigmoid.h"

#define SQRT_HALF 0x1.6a09e667f3bcdp-1
#define SQRT_8_OVER_PI 0x1.9884533d43651p0

#define GELU_CUTOFF 0x1.6b851ep+2f
#define GELU_TANH_CUTOFF 0x1.89999ap+2f

#ifdef IS_64BIT
/* x P(x) by the functions that define P, with absolute errors of about 1e-16 |x|. */
INLINE vec op_gelu(vec x) {
    const vec half = v_set(0.5);
    return v_select(v_eq(x, v_set(-__builtin_inf())), v_set(-0.0), x * (half + half * op_erf(x * v_set(SQRT_HALF))));
}
INLINE vec op_gelu_tanh(vec x) {
    vec inner = v_set(SQRT_8_OVER_PI) * x * v_fma(x * x, v_set(0.044715), v_set(1));
    return v_select(v_eq(x, v_set(-__builtin_inf())), v_set(-0.0), x * op_sigmoid(inner));
}
#else
/* Step 2 above with power = 4; absolute error < 4e-7. p is a polynomial in n = -|x|, factored into a cubic and a
 * quartic. The quartic is computed as y (y + n + a) + b, where y is quadratic in n: this takes one multiplication less
 * than Horner's rule for p, and half the latency. Source of that form: Motzkin, in Knuth, The Art of Computer
 * Programming, volume 2, 1997, section 4.6.4. */
INLINE vec op_gelu(vec x) {
    const vec cutoff = v_set(GELU_CUTOFF), minus_zero = v_set(-0.0f);
    vec n = v_at_least(v_from_bits(b_or(v_bits(x), v_bits(minus_zero))), v_set(-GELU_CUTOFF));
    vec p = v_fma(n, v_set(-0x1.b257ecp-19f), v_set(0x1.c4e1a4p-16f));
    p = v_fma(p, n, v_set(-0x1.9c3ba6p-14f));
    p = v_fma(p, n, v_set(0x1.49f242p-13f));
    vec y = v_fma(n + v_set(0x1.2e40ap+3f), n, v_set(0x1.14a9dcp+5f));
    y = v_fma(y + (n + v_set(-0x1.084066p+3f)), y, v_set(0x1.e95936p+4f));
    p = (cutoff + n) * p * y;
    p = p * p;
    return v_fma(n * p, p, v_at_least(x, minus_zero));
}

/* Step 2 above with power = 8; absolute error < 4e-7. Here, P(x) = (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2. */
INLINE vec op_gelu_tanh(vec x) {
    const vec cutoff = v_set(GELU_TANH_CUTOFF);
    vec size = v_at_most(v_abs(x), cutoff);
    vec p = v_set(-0x1.43e896p-21f);
    p = v_fma(p, size, v_set(0x1.3c4bf2p-17f));
    p = v_fma(p, size, v_set(-0x1.ad3e04p-15f));
    p = v_fma(p, size, v_set(0x1.d29a6cp-14f));
    p = v_fma(p, size, v_set(0x1.8e43b2p-15f));
    p = v_fma(p, size, v_set(-0x1.4d1048p-11f));
    p = v_fma(p, size, v_set(-0x1.e343e2p-9f));
    p = v_fma(p, size, v_set(0x1.33439cp-7f));
    p = v_fma(p, size, v_set(0x1.315e94p-3f));
    p = p * (cutoff - size);
    p = p * p;
    p = p * p;
    return v_at_least(x, v_set(-0.0f)) - size * (p * p);
}
#endif
