// Returns 0 if x is not an integer, 1 if it is odd, and 2 if it is even. Infinities count as even.
fn lw_parity(x: f32) -> u32 {
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    if (bits >= 0x4b800000u || bits == 0u) { // |x| is at least 2^24, or 0
        return 2u;
    }
    if (bits < 0x3f800000u) {
        return 0u;
    }
    let unit = 1u << (150u - (bits >> 23u));
    let mantissa = (bits & 0x007fffffu) | 0x00800000u;
    if ((mantissa & (unit - 1u)) != 0u) {
        return 0u;
    }
    return select(2u, 1u, (mantissa & unit) != 0u);
}

// Computes |x1|^x2 with lw_pow_positive, and sets the sign. Special values are those of IEEE 754-2019, 9.2.1.
fn lw_pow_float32(x1: f32, x2: f32) -> f32 {
    let one = 0x3f800000u;
    let infinity = 0x7f800000u;
    let size = bitcast<u32>(x1) & 0x7fffffffu;
    let y_size = bitcast<u32>(x2) & 0x7fffffffu;
    if (y_size == 0u || bitcast<u32>(x1) == one) {
        return 1.0;
    }
    if (size > infinity || y_size > infinity) {
        return select(x2, x1, size > infinity);
    }
    let negative = size != bitcast<u32>(x1);
    let parity = lw_parity(x2);
    if (negative && parity == 0u && size != 0u && size != infinity) {
        return lw_from_bits(0x7fc00000u);
    }
    var power = 1.0;
    if (size == 0u || size == infinity || (y_size == infinity && size != one)) {
        power = lw_from_bits(select(infinity, 0u, (size > one) == (bitcast<i32>(x2) < 0)));
    } else if (size != one) {
        power = lw_pow_positive(bitcast<f32>(size), x2);
    }
    return lw_from_bits(bitcast<u32>(power) | select(0u, 0x80000000u, negative && parity == 1u));
}

// Returns x1^x2, by repeated squaring. If x2 is negative, the result is 0 unless x1 is 1 or -1, whose powers depend on
// the lowest bit of x2 alone.
fn lw_pow_int32(x1: i32, x2: i32) -> i32 {
    var bits = x2;
    if (x2 < 0) {
        if (x1 != 1 && x1 != -1) {
            return 0;
        }
        bits = x2 & 1;
    }
    var result = 1;
    var square = x1;
    while (bits != 0) {
        result = select(result, result * square, (bits & 1) != 0);
        square = square * square;
        bits = bits >> 1u;
    }
    return result;
}
