/* |x|^y = 2^(y log2 |x|). Error < 0.9 ulp, or 0.6 ulp if the result is normal; exact where a float32
 * can represent the power.
 * 1. log2 |x| = k + s P(s^2), |x| = 2^k (1 + f), s = f/(2 + f). Computed in double: |y log2 |x|| is up to 150, and its
 *    absolute error becomes a relative error of the result. P is a minimax polynomial of degree 4 by Remez exchange on
 *    [0, 0.0295], with an error of 4.2e-12.
 * 2. y log2 |x| = n + r/ln 2, n an integer, in double.
 * 3. |x|^y = 2^n e^r, e^r = 1 + r + r^2 q(r) with q of math/exp.h. q is computed in float32 and the sum in double, so
 *    the main error is the rounding of the sum to float32.
 * 4. Special values of IEEE 754-2019, 9.2.1.
 * In float64, what steps 1 and 2 compute in double are pairs of float64 (math/pair.h), and P has three terms more: the
 * first is the 1/3 of atanh s = s + s^3/3 + s^5/5 ..., a pair, and the others a minimax polynomial of degree 8 with a
 * relative error of 3.2e-20.
 * In float64, where v_lookup_16 is one instruction, |x|^y = e^(y ln |x|), and no division is left:
 * 1. ln |x| as in math/log_table.h, with r, r^2 and ln c in two parts, and r^3 q(r), q a minimax polynomial of degree
 *    8; its error is 1.7e-20 of the result.
 * 2. y ln |x| = n ln 2 + r, r = y ln |x| - n*LOG_LN2_HI - n*LOG_LN2_LO, where the first difference is exact. */
#pragma once

#include "element.h"

#if IS_FLOATING

#include "math/exp.h"
#include "math/log_table.h"
#include "math/pair.h"

#ifdef IS_64BIT
/* Step 2 above: y times the logarithm of |x|. |y| is limited to 2^70: whatever x other than 1, the power is already
 * infinite or 0. */
INLINE pair pow_exponent(pair logarithm, vec y) {
    const vec limit = v_set(0x1p70);
    vec factor = v_at_most(v_at_least(y, -limit), limit), high = factor * logarithm.high;
    return (pair){high, product_error(factor, logarithm.high, high) + factor * logarithm.low};
}

#if SIMD_TABLES
/* ln x for x > 0. */
INLINE pair pow_log(vec x) {
    /* clang-format off */
    static const element logarithms_low[16] = { /* ln c, less the table of log_table_high */
        -0x1.c7d211cd5b375p-69, 0x1.f28ed25631e6cp-73, -0x1.57899b8789a65p-70, -0x1.1266be9ca86a4p-65,
        0, 0x1.19819a686bd88p-67, -0x1.2d61e09651a69p-69, -0x1.0260d9c96fc43p-69,
        0x1.dc259b022341cp-66, 0x1.8cfa741f62991p-67, 0x1.65fbf0464f265p-68, -0x1.c377eb89d4ep-69,
        0x1.03dbe4d0d3b66p-65, -0x1.d74417aaf1505p-72, -0x1.84206f39c4d47p-68, 0x1.50d980abacc7ap-66};
    static const element even[] = {0x1.7550cc343b91ep-4, 0x1.c71c2cd711e58p-4, 0x1.24924928dd966p-3,
                                   0x1.9999999999617p-3, 0x1.5555555555555p-2};
    static const element odd[] = {-0x1.9a76ab60f63fap-4, -0x1.ffffcdef1738cp-4, -0x1.55555557a3105p-3,
                                  -0x1.ffffffffffee1p-3};
    /* clang-format on */
    const vec minus_half = v_set(-0.5);
    log_table_parts parts = log_table_split_natural(x);
    vec r = parts.r, product = parts.m * parts.inverse, square = r * r;
    vec r_low = ((product - v_set(1)) - r) + product_error(parts.m, parts.inverse, product);
    vec curve = v_fma(POLYNOMIAL(square, odd), r, POLYNOMIAL(square, even));
    vec high = log_table_high(parts), linear = high + r, quadratic = v_fma(square, minus_half, linear);
    vec low = v_fma(parts.k, v_set(LOG_LN2_LO), V(lookup_16)(logarithms_low, parts.j));
    low = v_fma(square * r, curve, low) + v_fma(-r, r_low, r_low);
    low = v_fma(product_error(r, r, square), minus_half, low);
    low = low + ((high - linear) + r) + v_fma(square, minus_half, linear - quadratic);
    vec sum = quadratic + low;
    return (pair){sum, (quadratic - sum) + low};
}

/* e^exponent. The exponent is clamped to +-800, where the result is already infinite or 0. `low` is what r lacks. */
INLINE vec pow_exp(pair exponent) {
    const vec magic = v_set(ROUND_MAGIC);
    vec bounded = v_at_most(v_at_least(exponent.high, v_set(-800)), v_set(800));
    vec low = v_select(v_eq(bounded, exponent.high), exponent.low, v_set(0));
    vec n_magic = v_fma(bounded, v_set(LOG2_E_F64), magic), n = n_magic - magic;
    vec d = exp_expm1(v_fma(n, v_set(-LOG_LN2_HI), bounded));
    low = v_fma(n, v_set(-LOG_LN2_LO), low);
    return v_scale(v_fma(d, low, low) + d + v_set(1), n_magic);
}
#else
/* ln |x| / ln 2, from the k and f of |x|. */
INLINE pair pow_log2(log_parts parts) {
    static const element p[] = {0x1.b8db4c5884866p-5, 0x1.ac49bc9dc17fp-5,  0x1.e1f803d944f7fp-5,
                                0x1.1110df907bc2bp-4, 0x1.3b13b1bcd5e05p-4, 0x1.745d174512aa7p-4,
                                0x1.c71c71c71cfe3p-4, 0x1.2492492492491p-3, 0x1.999999999999ap-3};
    const vec two = v_set(2), third = v_set(0x1.5555555555555p-2), third_low = v_set(0x1.5555555555555p-56);
    vec divisor = two + parts.f, divisor_low = parts.f - (divisor - two), inverse = v_set(1) / divisor;
    vec quotient = parts.f * inverse, product = quotient * divisor;
    vec rest = ((parts.f - product) - product_error(quotient, divisor, product)) - quotient * divisor_low;
    pair s = {quotient, rest * inverse}, square = pair_multiply(s, s);
    vec curve = square.high * POLYNOMIAL(square.high, p);
    pair slope = pair_multiply(square, pair_add(third, (pair){curve, third_low}));
    pair half = pair_multiply(s, pair_add(v_set(1), slope));
    return pair_add(parts.k, pair_multiply(half, (pair){v_set(0x1.71547652b82fep1), v_set(0x1.777d0ffda0d24p-55)}));
}

/* Step 3 above: 2^exponent. The exponent is clamped to +-1200, where the result is already infinite or 0. `lost` is
 * what r lost in rounding, times e^r: with it, powers that are floats are exact. */
INLINE vec pow_exp2(pair exponent) {
    const vec ln2 = v_set(LN2_F64), magic = v_set(ROUND_MAGIC);
    vec bounded = v_at_most(v_at_least(exponent.high, v_set(-1200)), v_set(1200));
    vec low = v_select(v_eq(bounded, exponent.high), exponent.low, v_set(0)), n_magic = bounded + magic;
    vec rest = bounded - (n_magic - magic), r = rest * ln2, d = exp_expm1(r);
    vec lost = product_error(rest, ln2, r) + v_fma(rest, v_set(LN2_LO_F64), low * ln2);
    return v_scale(v_fma(d, lost, lost) + d + v_set(1), n_magic);
}
#endif
#else
/* Step 1 above: log2 |x|, from the k and f of |x|. */
INLINE wf64 pow_log2(log_parts parts) {
    wf64 f = vf32_to_wf64(parts.f);
    wf64 s = f / (f + wf64_set(2));
    wf64 square = s * s;
    wf64 p = square * wf64_set(0x1.5ce7cd8f69a61p-2) + wf64_set(0x1.a58d8fc49d905p-2);
    p = p * square + wf64_set(0x1.27777fda50da3p-1);
    p = p * square + wf64_set(0x1.ec709d12e192ap-1);
    p = p * square + wf64_set(0x1.71547652bede5p+1);
    return vf32_to_wf64(parts.k) + s * p;
}

/* Step 2 above: y log2 |x|. */
INLINE wf64 pow_exponent(wf64 logarithm, vec y) { return vf32_to_wf64(y) * logarithm; }

/* Step 3 above: 2^exponent. n is the exponent, clamped to +-160, where the result is already infinite or 0,
 * and then rounded. r is computed from the unclamped exponent, so |r| is too large if the exponent is outside +-160;
 * then the bounds on the mantissa keep the result infinite or 0. */
INLINE vec pow_exp2(wf64 exponent) {
    vf32 bounded = vf32_at_most(vf32_at_least(wf64_to_vf32(exponent), vf32_set(-160)), vf32_set(160));
    vf32 n_magic = bounded + vf32_set(ROUND_MAGIC);
    vf32 n = n_magic - vf32_set(ROUND_MAGIC);
    wf64 r_wide = (exponent - vf32_to_wf64(n)) * wf64_set(LN2_F64);
    vf32 r = wf64_to_vf32(r_wide);
    vf32 mantissa = wf64_to_vf32(r_wide + wf64_set(1) + vf32_to_wf64(exp_minimax(r, 1) * (r * r)));
    return vf32_scale(vf32_at_most(vf32_at_least(mantissa, vf32_set(0.5f)), vf32_set(2)), n_magic);
}
#endif

/* Step 4 above: returns x^y, given result = |x|^y for finite nonzero x and finite y. */
INLINE vec pow_special(vec x, vec y, vec result) {
    const vec zero = v_set(0), one = v_set(1), infinity = v_set(__builtin_inff());
    vec size = v_abs(x), y_size = v_abs(y);
    vmask is_limit = m_or(m_or(v_eq(size, zero), v_eq(size, infinity)), v_eq(y_size, infinity));
    vmask is_zero = m_xor(v_gt(size, one), v_gt(y, zero));
    result = v_select(is_limit, v_select(is_zero, zero, infinity), result);
    vec half = y * v_set(0.5f);
    vmask is_integer = v_eq(v_trunc(y), y);
    vmask is_odd = m_and(is_integer, v_ne(v_trunc(half), half));
    result = v_copysign(result, v_select(is_odd, x, zero));
    vmask is_nan = m_and(m_and(v_lt(x, zero), v_gt(x, -infinity)), m_not(is_integer));
    is_nan = m_or(is_nan, m_or(v_isnan(x), v_isnan(y)));
    result = v_select(is_nan, v_set(__builtin_nanf("")), result);
    vmask is_one = m_or(v_eq(y, zero), v_eq(x, one));
    is_one = m_or(is_one, m_and(v_eq(x, -one), v_eq(y_size, infinity)));
    return v_select(is_one, one, result);
}

INLINE vec op_pow(vec x1, vec x2) {
    int ordinary = log_is_normal(x1) && m_all(v_lt(v_abs(x2), v_set(__builtin_inff())));
#if SIMD_TABLES && defined IS_64BIT
    vec result = pow_exp(pow_exponent(pow_log(v_abs(x1)), x2));
#else
    log_parts parts = ordinary ? log_split(x1) : log_split_with_denormals(v_abs(x1));
    vec result = pow_exp2(pow_exponent(pow_log2(parts), x2));
#endif
    return ordinary ? result : pow_special(x1, x2, result);
}
#else
/* Computed by repeated squaring. If x2 is negative, the result is 0 unless x1 is 1 or -1, whose powers depend on the
 * last bit of x2 alone. */
INLINE vec op_pow(vec x1, vec x2) {
    const vec zero = v_set(0), one = v_set(1);
    vec bits = x2, square = x1, result = one;
#ifndef IS_UNSIGNED
    vmask negative = v_lt(x2, zero);
    vmask vanishes = m_and(negative, v_ne(v_and(x1 + one, v_set(-3)), zero));
    bits = v_select(negative, v_and(x2, one), x2);
    result = v_select(vanishes, zero, one);
#endif
    while (m_any(v_ne(bits, zero))) {
        result = v_select(v_ne(v_and(bits, one), zero), result * square, result);
        square = square * square;
        bits = v_shift_right(bits, 1);
    }
    return result;
}
#endif
