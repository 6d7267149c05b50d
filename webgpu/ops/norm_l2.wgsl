// The square root of the sum of squares (math/squares.wgsl).
template reduction(float32):
    accumulator = vec2<f32>; identity = vec2<f32>(0.0, 0.0); map = vec2<f32>(x * x, 0.0);
    combine = vec2<f32>(a.x + b.x, 0.0);
    finish = lw_moments_unscaled(lw_sqrt_float32(total.x), -i32(total.y));

fn lw_norm_l2_float32_scale(total: vec2<f32>) -> f32 {
    return lw_squares_scale(total.x);
}

fn lw_norm_l2_float32_block(total: vec2<f32>, scale: f32) -> vec2<f32> {
    return vec2<f32>(total.x, f32(lw_exponent(scale)));
}

fn lw_norm_l2_float32_combine_blocks(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return lw_squares_join_blocks(a, b);
}
