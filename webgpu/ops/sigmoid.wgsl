// Below -20 the sigmoid is e^x.
fn lw_sigmoid_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let near = clamp(x, -120.0, 120.0);
    if (near < -20.0) {
        return lw_exp_float32(near);
    }
    return lw_logistic(near);
}
