// The summary of a row is its sum of squares, as in norm_l2: large elements do not overflow.
template summary(float32):
    accumulator = LwSquares; identity = lw_norm_l2_float32_identity();
    map = lw_norm_l2_float32_map(x); combine = lw_norm_l2_float32_combine(a, b);

// 1 / sqrt(mean of squares + eps)
fn lw_rms_norm_float32_numbers(squares: LwSquares, count: u32, eps: f32) -> f32 {
    let root = lw_norm_l2_float32_finish(squares, count) / lw_sqrt_float32(f32(count));
    return lw_reciprocal_float32(lw_hypot_float32(root, lw_sqrt_float32(eps)));
}

fn lw_rms_norm_float32_value(x: f32, weight: f32, factor: f32) -> f32 {
    return x * factor * weight;
}

fn lw_rms_norm_float32_absent_weight() -> f32 {
    return 1.0;
}
