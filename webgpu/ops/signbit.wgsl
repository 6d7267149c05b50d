fn lw_signbit_float32(x: f32) -> bool {
    return lw_is_negative(x);
}
