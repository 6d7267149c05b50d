// Long division of the mantissas, up to 8 bits per step, so that the remainder of at most 24 bits and the next 8 bits
// fit into 32 bits. Shorter steps would give the same remainder. Signs are as in core/ops/remainder.h.
fn lw_remainder_float32(x1: f32, x2: f32) -> f32 {
    let a = lw_magnitude_bits(x1);
    let b = lw_magnitude_bits(x2);
    if ((a >= lw_INFINITY_BITS) | (b > lw_INFINITY_BITS) | (b == 0u)) {
        return lw_nan_of(x1, x2);
    }
    var remainder = bitcast<f32>(a);
    if (a >= b) {
        let divisor = lw_unpack(b);
        let dividend = lw_unpack(a);
        var places = u32(dividend.exponent - divisor.exponent);
        var digits = dividend.mantissa % divisor.mantissa;
        while (places > 0u) {
            let step = min(places, 8u);
            digits = (digits << step) % divisor.mantissa;
            places -= step;
        }
        let shift = countLeadingZeros(digits) - 1u;
        remainder = select(lw_pack(0u, digits << (shift & 31u), divisor.exponent - i32(shift)), 0.0, digits == 0u);
    }
    let signs_differ = lw_product_sign(x1, x2) != 0u;
    if (signs_differ & (bitcast<u32>(remainder) != 0u)) {
        remainder = select(lw_magnitude(x2) - remainder, lw_from_bits(b), b == lw_INFINITY_BITS);
    }
    return lw_copysign(remainder, x2);
}

template binary(int32): result = select(x1 - lw_floor_divide_int32(x1, x2) * x2, 0, x2 == 0);
// WGSL defines x % 0 as 0.
template binary(uint32): result = x1 % x2;
