// If low > high, the result is `high`. If any operand is NaN, the result is NaN.
fn lw_clip_float32(x: f32, low: f32, high: f32) -> f32 {
    return lw_minimum_float32(lw_maximum_float32(x, low), high);
}

fn lw_clip_int32(x: i32, low: i32, high: i32) -> i32 {
    return min(max(x, low), high);
}
