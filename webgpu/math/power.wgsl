// log2 e in units of 2^-31.
const lw_LOG2_E_Q31 = 3098164009u;

// Returns the product of two fractions in units of 2^-31, truncated.
fn lw_multiply_fraction(a: i32, b: i32) -> i32 {
    let product = lw_multiply_wide(u32(abs(a)), u32(abs(b)));
    let size = bitcast<i32>((product.y << 1u) | (product.x >> 31u));
    return select(size, -size, (a ^ b) < 0);
}

// Returns log2 of a positive finite x, as a signed 64-bit integer in units of 2^-55.
// 1. x = 2^k (1 + n 2^-24), sqrt(1/2) <= 1 + n 2^-24 < sqrt(2).
// 2. log2 x = k + n 2^-24 q, q a polynomial fitted on [sqrt(1/2) - 1, sqrt(2) - 1]: error 1e-10. The high-order terms
//    of q are evaluated in float32, the others in fixed point.
fn lw_fixed_log2(x: f32) -> vec2<u32> {
    let unpacked = lw_unpack(bitcast<u32>(x));
    let mantissa = i32(unpacked.mantissa);
    let above = mantissa >= lw_SQRT2_Q23;
    let k = unpacked.exponent + select(23, 24, above);
    let n = select(2 * (mantissa - 8388608), mantissa - 16777216, above);
    let f = n << 7u;
    let f_float = f32(n) * 0x1p-24;
    var tail = f_float * -0.086346063 + 0.154857596;
    tail = tail * f_float - 0.156982266;
    tail = tail * f_float + 0.159001485;
    tail = tail * f_float - 0.179046949;
    tail = tail * f_float + 0.206096257;
    tail = tail * f_float - 0.240504174;
    var q = i32(tail * 0x1p31);
    q = lw_multiply_fraction(q, f) + 619636314;
    q = lw_multiply_fraction(q, f) - 774538941;
    q = lw_multiply_fraction(q, f) + 1032721280;
    q = lw_multiply_fraction(q, f) - 1549082015;
    let slope = lw_LOG2_E_Q31 + bitcast<u32>(lw_multiply_fraction(q, f));
    let part = lw_multiply_wide(u32(abs(n)), slope);
    return lw_add_wide(vec2<u32>(0u, bitcast<u32>(k << 23u)), lw_signed_wide(part, n < 0));
}

fn lw_signed_wide(x: vec2<u32>, negative: bool) -> vec2<u32> {
    return select(x, lw_negate_wide(x), negative);
}

// x^y = 2^(y log2 x) for positive finite x other than 1 and finite nonzero y. y log2 x has 32 correct bits after the
// binary point.
fn lw_pow_positive(x: f32, y: f32) -> f32 {
    let logarithm = lw_fixed_log2(x);
    let below = (logarithm.y >> 31u) != 0u;
    let size = lw_signed_wide(logarithm, below);
    let zeros = lw_leading_zeros_wide(size);
    let normal = lw_shift_left_wide(size, zeros);
    let factor = lw_unpack(lw_magnitude_bits(y));
    let carried = vec2<u32>(lw_multiply_wide(normal.x, factor.mantissa).y, 0u);
    let product = lw_add_wide(lw_multiply_wide(normal.y, factor.mantissa), carried);
    let shift = i32(zeros) - factor.exponent - 9;
    let negative = below != lw_is_negative(y);
    if (shift < 15) { // |y log2 x| >= 256: the result overflows or underflows
        return lw_from_bits(select(lw_INFINITY_BITS, 0u, negative));
    }
    if (shift > 63) {
        return 1.0;
    }
    let exponent = lw_shift_right_wide(product, u32(shift));
    let whole = i32(exponent.y + (exponent.x >> 31u));
    let fraction = f32(bitcast<i32>(exponent.x)) * 0x1p-32;
    return lw_exp_value(lw_exp2_parts(select(fraction, -fraction, negative), select(whole, -whole, negative)));
}
