// The summary of a row is its sum of squares (math/squares.wgsl).
template summary(float32): identity = 0.0; map = x * x; combine = a + b;

// If the squares are small, that matters only if eps is.
fn lw_rms_norm_float32_scale(squares: f32, eps: f32) -> f32 {
    let scale = lw_squares_scale(squares);
    return select(scale, 1.0, (scale > 1.0) & (eps >= 0x1p-60));
}

// 1 / sqrt(mean of squares + eps)
fn lw_rms_norm_float32_numbers(squares: f32, scale: f32, count: u32, eps: f32) -> f32 {
    let root = lw_moments_unscaled(lw_sqrt_float32(squares / f32(count)), -lw_exponent(scale));
    return lw_reciprocal_float32(lw_hypot_float32(root, lw_sqrt_float32(eps)));
}

fn lw_rms_norm_float32_value(x: f32, weight: f32, factor: f32) -> f32 {
    return x * factor * weight;
}

fn lw_rms_norm_float32_absent_weight() -> f32 {
    return 1.0;
}
