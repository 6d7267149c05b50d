fn lw_relu_float32(x: f32) -> f32 {
    return select(x, 0.0, (lw_order(x) <= 0) & !lw_is_nan(x));
}

fn lw_relu_int32(x: i32) -> i32 {
    return max(x, 0);
}
