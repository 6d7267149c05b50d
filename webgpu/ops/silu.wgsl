// silu x = x sigmoid(x). For x > 20 the sigmoid rounds to 1.
fn lw_silu_float32(x: f32) -> f32 {
    if (lw_is_nan(x) || x > 20.0) {
        return x;
    }
    return lw_times_logistic(max(x, -200.0), max(x, -200.0));
}
