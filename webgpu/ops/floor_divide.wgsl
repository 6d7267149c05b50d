// The floor of the quotient, computed in integers. Special values are those of core/ops/floor_divide.h.
fn lw_floor_divide_float32(x1: f32, x2: f32) -> f32 {
    let sign = lw_product_sign(x1, x2);
    let a = lw_magnitude_bits(x1);
    let b = lw_magnitude_bits(x2);
    // 0 or -1: the floor of a quotient near zero. This is not a select, because some compilers turn a select into a
    // product with -1, which would turn 0 into -0.
    let below = bitcast<f32>((sign >> 31u) * (lw_SIGN_BIT | lw_ONE_BITS));
    if (lw_is_positive(a) & (b == lw_INFINITY_BITS)) {
        return below;
    }
    if ((a == lw_INFINITY_BITS) & lw_is_positive(b)) {
        return lw_nan();
    }
    if (!lw_is_positive(a) | !lw_is_positive(b)) {
        return lw_special_quotient(x1, x2);
    }
    let quotient = lw_quotient(a, b);
    if (quotient.exponent >= 0) {
        return lw_pack(sign, quotient.mantissa, quotient.exponent);
    }
    if (quotient.exponent < -30) {
        return below;
    }
    let places = u32(-quotient.exponent);
    var whole = quotient.mantissa >> places;
    if ((sign != 0u) & ((whole << places) != quotient.mantissa)) {
        whole += 1u;
    }
    let shift = countLeadingZeros(whole) - 1u;
    return lw_pack(sign, whole << shift, -i32(shift));
}

fn lw_floor_divide_int32(x1: i32, x2: i32) -> i32 {
    if (x2 == 0) {
        return 0;
    }
    if (x2 == -1) {
        return -x1;
    }
    let whole = x1 / x2;
    return whole - select(0, 1, (whole * x2 != x1) & ((x1 < 0) != (x2 < 0)));
}

template binary(uint32): result = select(x1 / x2, 0u, x2 == 0u);
