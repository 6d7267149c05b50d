fn lw_reciprocal_float32(x: f32) -> f32 {
    return lw_divide_float32(1.0, x);
}
