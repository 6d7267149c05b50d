// Of two integers, fractions in units of 2^-31: their product, cut.
fn lw_multiply_fraction(a: i32, b: i32) -> i32 {
    let product = lw_multiply_wide(u32(abs(a)), u32(abs(b)));
    let size = bitcast<i32>((product.y << 1u) | (product.x >> 31u));
    return select(size, -size, (a ^ b) < 0);
}

// log2 of a positive finite x in units of 2^-55, 64 bits with a sign. x = 2^k (1 + n 2^-24), and log2 x = k + n 2^-24 q
// with a polynomial q fitted on [sqrt(1/2) - 1, sqrt(2) - 1], 1e-10. Its last terms are small enough for float.
fn lw_fixed_log2(x: f32) -> vec2<u32> {
    let unpacked = lw_unpack(bitcast<u32>(x));
    let mantissa = i32(unpacked.mantissa);
    let above = mantissa >= 11863283; // sqrt(2) 2^23
    let k = unpacked.exponent + select(23, 24, above);
    let n = select(2 * (mantissa - 8388608), mantissa - 16777216, above);
    let f = n << 7u;
    let near = f32(n) * 5.960464477539063e-8;
    var tail = near * -0.086346063 + 0.154857596;
    tail = tail * near - 0.156982266;
    tail = tail * near + 0.159001485;
    tail = tail * near - 0.179046949;
    tail = tail * near + 0.206096257;
    tail = tail * near - 0.240504174;
    var q = i32(tail * 2147483648.0);
    q = lw_multiply_fraction(q, f) + 619636314;
    q = lw_multiply_fraction(q, f) - 774538941;
    q = lw_multiply_fraction(q, f) + 1032721280;
    q = lw_multiply_fraction(q, f) - 1549082015;
    let slope = 3098164009u + bitcast<u32>(lw_multiply_fraction(q, f));
    let part = lw_multiply_wide(u32(abs(n)), slope);
    return lw_add_wide(vec2<u32>(0u, bitcast<u32>(k << 23u)), lw_signed_wide(part, n < 0));
}

fn lw_signed_wide(x: vec2<u32>, negative: bool) -> vec2<u32> {
    return select(x, lw_negate_wide(x), negative);
}

// x^y for positive finite x and finite y, neither of them with a power of 1. The exponent y log2 x is right to 32 bits
// after the point.
fn lw_power_of(x: f32, y: f32) -> f32 {
    let logarithm = lw_fixed_log2(x);
    let below = (logarithm.y >> 31u) != 0u;
    let size = lw_signed_wide(logarithm, below);
    let zeros = lw_leading_zeros_wide(size);
    let normal = lw_shift_left_wide(size, zeros);
    let factor = lw_unpack(bitcast<u32>(y) & 0x7fffffffu);
    let carried = vec2<u32>(lw_multiply_wide(normal.x, factor.mantissa).y, 0u);
    let product = lw_add_wide(lw_multiply_wide(normal.y, factor.mantissa), carried);
    let shift = i32(zeros) - factor.exponent - 9;
    let negative = below != (bitcast<i32>(y) < 0);
    if (shift < 15) { // the exponent is 256 or more
        return lw_from_bits(select(0x7f800000u, 0u, negative));
    }
    if (shift > 63) {
        return 1.0;
    }
    let exponent = lw_shift_right_wide(product, u32(shift));
    let whole = i32(exponent.y + (exponent.x >> 31u));
    let fraction = f32(bitcast<i32>(exponent.x)) * 2.3283064365386963e-10;
    return lw_power_value(lw_power_of_two(select(fraction, -fraction, negative), select(whole, -whole, negative)));
}
