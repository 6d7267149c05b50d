// The power e^x or 2^x, as mantissa * 2^exponent.
struct LwExpParts {
    exp2m1: f32,   // mantissa - 1, in [-0.3, 0.42]
    mantissa: f32,
    exponent: i32,
}

// log2 e in units of 2^-31.
const lw_LOG2_E_Q31 = 3098164009u;

// e^x for |x| < 128.
// 1. k + f = x log2 e, |f| <= 1/2, in fixed point with 32 bits after the binary point. core/math/exp.h instead computes
//    x - k*LN2_HI_9BIT - k*LN2_LO_9BIT, but WGSL lets a compiler replace the constants by their rounded sum.
// 2. Evaluate 2^f with a polynomial.
fn lw_exp_parts(x: f32) -> LwExpParts {
    let product = lw_multiply_wide(lw_mantissa(bitcast<u32>(x)), lw_LOG2_E_Q31);
    let fixed = lw_shift_right_wide(product, 149u - (lw_magnitude_bits(x) >> 23u));
    let negative = lw_is_negative(x);
    let whole = i32(fixed.y + (fixed.x >> 31u));
    let fraction = f32(bitcast<i32>(fixed.x)) * 0x1p-32;
    return lw_exp2_parts(select(fraction, -fraction, negative), select(whole, -whole, negative));
}

// 2^(f + k), |f| <= 1/2. 2^f - 1 = f q(f), q a minimax polynomial of degree 6 on [-1/2, 1/2]: error 8e-11.
fn lw_exp2_parts(f: f32, k: i32) -> LwExpParts {
    var q = f * 1.53100830987e-5 + 0.000154614471627;
    q = q * f + 0.00133334545396;
    q = q * f + 0.00961805667082;
    q = q * f + 0.0555041092876;
    q = q * f + 0.240226509223;
    q = q * f + 0.693147180554;
    return LwExpParts(f * q, f * q + 1.0, k);
}

fn lw_exp_value(parts: LwExpParts) -> f32 {
    return lw_scale(parts.mantissa, parts.exponent);
}

// e^x for x <= 0, of which terms of a sum whose largest is 1 consist; error < 1.5 ulp, but 0 for x < -87. x - k ln 2 is
// computed as in core/math/exp.h: lw_rounded keeps the compiler from replacing the two parts of ln 2 by their sum.
fn lw_exp_term(x: f32) -> f32 {
    let k = round(max(x, -87.0) * 1.44269504);
    let r = lw_rounded(max(x, -87.0) - k * 0.693359375) + k * 2.12194440e-4;
    let mantissa = lw_exp2_parts(r * 1.44269504, 0).mantissa;
    return select(bitcast<f32>(bitcast<i32>(mantissa) + (i32(k) << 23u)), 0.0, x < -87.0);
}

// 1 / (1 + e^-x) for finite x, without overflow.
fn lw_logistic(x: f32) -> f32 {
    let tail = lw_exp_value(lw_exp_parts(-min(lw_magnitude(x), 100.0)));
    return select(1.0, tail, x < 0.0) / (1.0 + tail);
}

// x / (1 + e^-u) for finite x and u of the same sign. For u <= -20 this equals x e^u to float32 accuracy. The power of
// two is applied after multiplying by x, because e^u may be denormal, and so flushed to zero, even if x e^u is not.
fn lw_times_logistic(x: f32, u: f32) -> f32 {
    if (u > -20.0) {
        return x * lw_logistic(u);
    }
    let parts = lw_exp_parts(max(u, -120.0));
    return lw_scale(x * parts.mantissa, parts.exponent);
}
