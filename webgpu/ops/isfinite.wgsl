fn lw_isfinite_float32(x: f32) -> bool {
    return lw_is_finite(x);
}

fn lw_isfinite_float16(x: u32) -> bool {
    return lw_magnitude_bits_float16(x) < lw_INFINITY_BITS_FLOAT16;
}

fn lw_isfinite_float64(x: vec2<u32>) -> bool {
    return lw_is_less_unsigned_wide(lw_magnitude_bits_float64(x), lw_INFINITY_BITS_FLOAT64);
}
