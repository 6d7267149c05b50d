// The steps and polynomial of core/math/log.h: x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
struct LwLogParts {
    k: f32,
    f: f32,
}

// sqrt(2) in units of 2^-23.
const lw_SQRT2_Q23 = 11863283;
// sqrt(1/2)
const lw_SQRT_HALF_BITS = 0x3f3504f3;

const lw_LN2_HI_15BIT = 0.693145752;
const lw_LN2_LO_15BIT = 1.42860677e-06;

// Step 1 of core/math/log.h: k and f of a positive finite x, which may be denormal.
fn lw_log_parts(x: f32) -> LwLogParts {
    let unpacked = lw_unpack(bitcast<u32>(x));
    let mantissa = i32(unpacked.mantissa);
    if (mantissa < lw_SQRT2_Q23) {
        return LwLogParts(f32(unpacked.exponent + 23), f32(mantissa - 8388608) * 0x1p-23);
    }
    return LwLogParts(f32(unpacked.exponent + 24), f32(mantissa - 16777216) * 0x1p-24);
}

// Returns k and f of 1 + x for finite x > -1. f is computed from x, because the rounded sum 1 + x lacks digits of x,
// and a compiler may reassociate terms that would restore them. The powers of two are 2^-k in two steps, because 2^-128
// would be denormal.
fn lw_log1p_parts(x: f32) -> LwLogParts {
    let k = (bitcast<i32>(1.0 + x) - lw_SQRT_HALF_BITS) >> 23u;
    let half = k >> 1u;
    let first = bitcast<f32>((127 - half) << 23u);
    let second = bitcast<f32>((127 - k + half) << 23u);
    return LwLogParts(f32(k), lw_rounded(x * first) * second + (first * second - 1.0));
}

// Returns t, where ln(1 + f) = f + f t, by the polynomial of step 2 of core/math/log.h.
fn lw_log_minimax(f: f32) -> f32 {
    var r = f * -0.0763464347 + 0.127616048;
    r = r * f - 0.131601334;
    r = r * f + 0.142017514;
    r = r * f - 0.166233629;
    r = r * f + 0.200012267;
    r = r * f - 0.250008196;
    r = r * f + 0.333333313;
    return f * (r * f - 0.5);
}

// Steps 2 and 3 of core/math/log.h: ln(2^k (1 + f)) = k ln 2 + f + f t, with k and f from `parts`.
fn lw_log_natural(parts: LwLogParts) -> f32 {
    let low = parts.f * lw_log_minimax(parts.f) + parts.k * lw_LN2_LO_15BIT;
    return parts.k * lw_LN2_HI_15BIT + (parts.f + low);
}

// Returns whether x is positive and finite.
fn lw_has_logarithm(x: f32) -> bool {
    return lw_is_positive(bitcast<u32>(x));
}

// Returns the logarithm, to any base, of an x that is not both positive and finite.
fn lw_log_special(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    if (lw_is_zero(x)) {
        return lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS);
    }
    return lw_from_bits(select(lw_NAN_BITS, bits, bits == lw_INFINITY_BITS));
}
