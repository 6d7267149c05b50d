fn lw_leaky_relu_float32(x: f32, slope: f32) -> f32 {
    return select(slope * x, x, (lw_order(x) > 0) | lw_is_nan(x));
}
