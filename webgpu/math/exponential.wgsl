// The power e^x or 2^x, as mantissa * 2^exponent.
struct LwExpParts {
    expm1: f32,    // mantissa - 1, in [-0.3, 0.42]
    mantissa: f32,
    exponent: i32,
}

// e^x for |x| < 128, as in core/math/exp.h: k = round(x log2 e), e^x = 2^k e^r, r = x - k ln 2 in [-ln2/2, ln2/2].
// 1. Adding 1.5 * 2^23 leaves k in the low bits of the sum.
// 2. The first part of ln 2 has 9 bits, so its product with k is exact. lw_rounded keeps the compiler from replacing
//    the two parts by their sum.
// 3. e^r = 1 + r + r^2 q(r), q a minimax polynomial: error 3.1e-9.
fn lw_exp_parts(x: f32) -> LwExpParts {
    let shifted = lw_rounded(x * 1.44269504 + 0x1.8p23);
    let k = shifted - 0x1.8p23;
    let r = lw_rounded(x - k * 0x1.63p-1) + k * 0x1.bd0106p-13;
    var q = r * 0x1.6a23dp-10 + 0x1.123a2p-7;
    q = q * r + 0x1.5558f2p-5;
    q = q * r + 0x1.555492p-3;
    q = q * r + 0x1.fffffcp-2;
    let expm1 = r * r * q + r;
    return LwExpParts(expm1, expm1 + 1.0, bitcast<i32>(shifted) - bitcast<i32>(0x1.8p23f));
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

// e^x whose exponent is that of a normal number.
fn lw_exp_normal(parts: LwExpParts) -> f32 {
    return bitcast<f32>(bitcast<i32>(parts.mantissa) + (parts.exponent << 23u));
}

// e^x for x <= 0, of which terms of a sum whose largest is 1 consist; 0 for x < -87.
fn lw_exp_term(x: f32) -> f32 {
    return select(lw_exp_normal(lw_exp_parts(max(x, -87.0))), 0.0, x < -87.0);
}

// x / (1 + e^-u) for x and u of the same sign, neither NaN. e^u may be denormal, and so flushed to zero, even if x e^u
// is not; therefore x is multiplied by e^u 2^40.
fn lw_times_logistic(x: f32, u: f32) -> f32 {
    let parts = lw_exp_parts(-min(lw_magnitude(u), 115.0));
    let large = lw_exp_normal(LwExpParts(parts.expm1, parts.mantissa, parts.exponent + 40));
    let numerator = select(x, lw_rounded(x * large) * 0x1p-40, u < 0.0);
    return lw_copysign(numerator / (large * 0x1p-40 + 1.0), x);
}
