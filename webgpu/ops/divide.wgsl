fn lw_divide_float32(x1: f32, x2: f32) -> f32 {
    let a = lw_magnitude_bits(x1);
    let b = lw_magnitude_bits(x2);
    if (!lw_is_positive(a) | !lw_is_positive(b)) {
        return lw_special_quotient(x1, x2);
    }
    let quotient = lw_quotient(a, b);
    return lw_pack(lw_product_sign(x1, x2), quotient.mantissa, quotient.exponent);
}
