// silu x = x sigmoid(x). For x > 20 the sigmoid rounds to 1.
fn lw_silu_float32(x: f32) -> f32 {
    let bounded = max(x, -200.0);
    return select(lw_times_logistic(bounded, bounded), x, lw_is_nan(x) | (x > 20.0));
}
