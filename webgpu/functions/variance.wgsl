// A reduction of moments (math/moments.wgsl). `variance` is s / max(n - correction, 0), as in NumPy, where s is the sum
// of squared deviations of n elements, scaled by a power of two.
fn lw_${operation}_${dtype}_identity() -> LwMoments {
    return LwMoments(0.0, 0.0, 0.0, 0.0);
}

fn lw_${operation}_${dtype}_map(x: f32) -> LwMoments {
    return lw_moments_of(x);
}

fn lw_${operation}_${dtype}_combine(a: LwMoments, b: LwMoments) -> LwMoments {
    return lw_moments_join(a, b);
}

fn lw_${operation}_${dtype}_add(before: LwMoments, x: f32, share: f32) -> LwMoments {
    return lw_moments_add(before, x, share);
}

fn lw_${operation}_${dtype}_scale(total: LwMoments) -> f32 {
    return lw_moments_scale(total);
}

fn lw_${operation}_${dtype}_block(total: LwMoments, scale: f32) -> LwMoments {
    return lw_moments_marked(total, lw_exponent(scale));
}

fn lw_${operation}_${dtype}_combine_blocks(a: LwMoments, b: LwMoments) -> LwMoments {
    return lw_moments_join_blocks(a, b);
}

fn lw_${operation}_${dtype}_finish(total: LwMoments, count: u32, correction: f32) -> f32 {
    let variance = lw_divide_float32(total.squares, max(f32(count) - correction, 0.0));
    return lw_moments_unscaled($finish);
}
