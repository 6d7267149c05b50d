fn lw_isinf_float32(x: f32) -> bool {
    return lw_magnitude_bits(x) == lw_INFINITY_BITS;
}

fn lw_isinf_float16(x: u32) -> bool {
    return lw_magnitude_bits_float16(x) == lw_INFINITY_BITS_FLOAT16;
}

fn lw_isinf_float64(x: vec2<u32>) -> bool {
    return all(lw_magnitude_bits_float64(x) == lw_INFINITY_BITS_FLOAT64);
}
