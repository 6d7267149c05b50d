// The square root of s / max(n - correction, 0), as in NumPy, where s is the sum of squared deviations of n elements.
fn lw_std_float32_identity() -> LwMoments {
    return LwMoments(0.0, 0.0, 0.0, 0.0);
}

fn lw_std_float32_map(x: f32) -> LwMoments {
    return lw_moments_of(x);
}

fn lw_std_float32_combine(a: LwMoments, b: LwMoments) -> LwMoments {
    return lw_moments_join(a, b);
}

fn lw_std_float32_scale(total: LwMoments) -> f32 {
    return lw_moments_scale(total);
}

fn lw_std_float32_block(total: LwMoments, scale: f32) -> LwMoments {
    return lw_moments_marked(total, lw_exponent(scale));
}

fn lw_std_float32_combine_blocks(a: LwMoments, b: LwMoments) -> LwMoments {
    return lw_moments_join_blocks(a, b);
}

fn lw_std_float32_finish(total: LwMoments, count: u32, correction: f32) -> f32 {
    let variance = lw_divide_float32(total.squares, max(f32(count) - correction, 0.0));
    return lw_moments_unscaled(lw_sqrt_float32(variance), -lw_moments_exponent(total));
}
