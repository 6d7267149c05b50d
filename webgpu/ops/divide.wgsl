fn lw_divide_float32(x1: f32, x2: f32) -> f32 {
    let a = bitcast<u32>(x1) & 0x7fffffffu;
    let b = bitcast<u32>(x2) & 0x7fffffffu;
    if (!lw_is_positive(a) || !lw_is_positive(b)) {
        return lw_special_quotient(x1, x2);
    }
    let quotient = lw_quotient(a, b);
    return lw_pack((bitcast<u32>(x1) ^ bitcast<u32>(x2)) & 0x80000000u, quotient.mantissa, quotient.exponent);
}
