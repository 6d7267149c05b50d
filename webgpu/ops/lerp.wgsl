// Interpolates from the nearer end, so that weights 0 and 1 give x1 and x2 exactly. Each step is rounded, as on the
// CPU.
fn lw_lerp_float32(x1: f32, x2: f32, weight: f32) -> f32 {
    let difference = x2 - lw_rounded(x1); // as in subtract.wgsl
    if (weight < 0.5) {
        return x1 + lw_rounded(weight * difference);
    }
    return x2 - lw_rounded((1.0 - weight) * difference);
}
