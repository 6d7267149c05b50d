fn lw_isnan_float32(x: f32) -> bool {
    return lw_is_nan(x);
}

fn lw_isnan_float16(x: u32) -> bool {
    return lw_is_nan_float16(x);
}

fn lw_isnan_float64(x: vec2<u32>) -> bool {
    return lw_is_nan_float64(x);
}
