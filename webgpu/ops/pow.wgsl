// Returns 0 if x is not an integer, 1 if it is odd, and 2 if it is even. Infinities count as even.
fn lw_parity(x: f32) -> u32 {
    let bits = lw_magnitude_bits(x);
    if ((bits >= lw_power_of_two_bits(24)) | (bits == 0u)) {
        return 2u;
    }
    if (bits < lw_ONE_BITS) {
        return 0u;
    }
    let unit = 1u << (150u - (bits >> 23u));
    let mantissa = lw_mantissa(bits);
    if ((mantissa & (unit - 1u)) != 0u) {
        return 0u;
    }
    return select(2u, 1u, (mantissa & unit) != 0u);
}

// Computes |x1|^x2 with lw_pow_positive, and sets the sign. Special values are those of IEEE 754-2019, 9.2.1.
fn lw_pow_float32(x1: f32, x2: f32) -> f32 {
    let size = lw_magnitude_bits(x1);
    let y_size = lw_magnitude_bits(x2);
    if ((y_size == 0u) | (bitcast<u32>(x1) == lw_ONE_BITS)) {
        return 1.0;
    }
    if ((size > lw_INFINITY_BITS) | (y_size > lw_INFINITY_BITS)) {
        return select(x2, x1, size > lw_INFINITY_BITS);
    }
    let negative = lw_is_negative(x1);
    let parity = lw_parity(x2);
    if (negative & (parity == 0u) & (size != 0u) & (size != lw_INFINITY_BITS)) {
        return lw_nan();
    }
    var power = 1.0;
    if ((size == 0u) | (size == lw_INFINITY_BITS) | ((y_size == lw_INFINITY_BITS) & (size != lw_ONE_BITS))) {
        power = lw_from_bits(select(lw_INFINITY_BITS, 0u, (size > lw_ONE_BITS) == lw_is_negative(x2)));
    } else if (size != lw_ONE_BITS) {
        power = lw_pow_positive(bitcast<f32>(size), x2);
    }
    return lw_from_bits(bitcast<u32>(power) | select(0u, lw_SIGN_BIT, negative & (parity == 1u)));
}

// If x2 is negative, the result is 0 unless x1 is 1 or -1, whose powers depend on the lowest bit of x2 alone.
fn lw_pow_int32(x1: i32, x2: i32) -> i32 {
    if ((x2 < 0) & (x1 != 1) & (x1 != -1)) {
        return 0;
    }
    let exponent = select(x2, x2 & 1, x2 < 0);
    return bitcast<i32>(lw_pow_uint32(bitcast<u32>(x1), bitcast<u32>(exponent)));
}

// Returns x1^x2, by repeated squaring. Its bits do not depend on the sign of x1.
fn lw_pow_uint32(x1: u32, x2: u32) -> u32 {
    var bits = x2;
    var result = 1u;
    var square = x1;
    while (bits != 0u) {
        result = select(result, result * square, (bits & 1u) != 0u);
        square = square * square;
        bits = bits >> 1u;
    }
    return result;
}
