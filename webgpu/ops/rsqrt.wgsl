fn lw_rsqrt_float32(x: f32) -> f32 {
    return lw_divide_float32(1.0, lw_sqrt_float32(x));
}
