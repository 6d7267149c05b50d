// For x < -20 the sigmoid equals e^x to float32 accuracy.
fn lw_sigmoid_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let bounded = clamp(x, -120.0, 120.0);
    if (bounded < -20.0) {
        return lw_exp_float32(bounded);
    }
    return lw_logistic(bounded);
}
