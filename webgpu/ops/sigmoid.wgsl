// 1 / (1 + e^-x), or e^x / (1 + e^x) for x < 0. For x < -20 this equals e^x to float32 accuracy.
fn lw_sigmoid_float32(x: f32) -> f32 {
    let tail = lw_exp_value(lw_exp_parts(-min(lw_magnitude(x), 120.0)));
    let result = select(select(1.0, tail, x < 0.0) / (1.0 + tail), tail, x < -20.0);
    return select(result, x, lw_is_nan(x));
}
