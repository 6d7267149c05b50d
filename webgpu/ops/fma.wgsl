// x1 * x2 + x3, rounded once; the fma of WGSL may round twice. The product and x3 are aligned as 62-bit integers.
// A sticky bit records whether the alignment lost any bits.
fn lw_fma_float32(x1: f32, x2: f32, x3: f32) -> f32 {
    let sign = lw_product_sign(x1, x2);
    let addend_sign = bitcast<u32>(x3) & lw_SIGN_BIT;
    let a = lw_magnitude_bits(x1);
    let b = lw_magnitude_bits(x2);
    let c = lw_magnitude_bits(x3);
    if ((max(a, b) > lw_INFINITY_BITS) | (c > lw_INFINITY_BITS)) {
        return lw_nan();
    }
    if (max(a, b) == lw_INFINITY_BITS) {
        if ((min(a, b) == 0u) | ((c == lw_INFINITY_BITS) & (sign != addend_sign))) {
            return lw_nan();
        }
        return lw_from_bits(sign | lw_INFINITY_BITS);
    }
    if (c == lw_INFINITY_BITS) {
        return x3;
    }
    if (min(a, b) == 0u) {
        return select(x3, bitcast<f32>(sign & addend_sign), c == 0u);
    }
    let left = lw_unpack(a);
    let right = lw_unpack(b);
    var product = lw_shift_left_wide(lw_multiply_wide(left.mantissa, right.mantissa), 14u);
    var exponent = left.exponent + right.exponent - 14;
    var sum = product;
    var negative = sign != 0u;
    if (c != 0u) {
        let third = lw_unpack(c);
        var addend = lw_shift_left_wide(vec2<u32>(third.mantissa, 0u), 38u);
        let distance = exponent - (third.exponent - 38);
        if (distance >= 0) {
            addend = lw_shift_right_sticky(addend, u32(distance));
        } else {
            product = lw_shift_right_sticky(product, u32(-distance));
            exponent -= distance;
        }
        if (sign == addend_sign) {
            sum = lw_add_wide(product, addend);
        } else if (lw_is_less_unsigned_wide(product, addend)) {
            sum = lw_subtract_wide(addend, product);
            negative = !negative;
        } else {
            sum = lw_subtract_wide(product, addend);
        }
        if (all(sum == vec2<u32>())) {
            return 0.0;
        }
    }
    let shift = lw_leading_zeros_wide(sum) - 1u;
    let normal = lw_shift_left_wide(sum, shift);
    let word = normal.y | select(0u, 1u, normal.x != 0u);
    return lw_pack(select(0u, lw_SIGN_BIT, negative), word, exponent - i32(shift) + 32);
}
