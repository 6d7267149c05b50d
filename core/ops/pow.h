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
 * relative error of 3.2e-20. */
#pragma once

#include "element.h"

#if IS_FLOATING

#include "math/exp.h"
#include "math/log.h"
#include "math/pair.h"

#ifdef IS_64BIT
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

/* Step 2 above: y log2 |x|. |y| is limited to 2^70: whatever x other than 1, the power is already infinite or 0. */
INLINE pair pow_exponent(log_parts parts, vec y) {
    const vec limit = v_set(0x1p70);
    return pair_multiply((pair){v_at_most(v_at_least(y, -limit), limit), v_set(0)}, pow_log2(parts));
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
INLINE wf64 pow_exponent(log_parts parts, vec y) { return vf32_to_wf64(y) * pow_log2(parts); }

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
    log_parts parts = ordinary ? log_split(x1) : log_split_with_denormals(v_abs(x1));
    vec result = pow_exp2(pow_exponent(parts, x2));
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
