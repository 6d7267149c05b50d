// cos x is cos r, -sin r, -cos r or sin r for n modulo 4 = 0 to 3, where |x| = n pi/2 + r (math/trig.wgsl).
fn lw_cos_float32(x: f32) -> f32 {
    if (!lw_is_finite(x)) {
        return lw_nan();
    }
    let parts = lw_trig_reduce(x);
    let size = select(lw_cos_minimax(parts.r), lw_sin_minimax(parts.r), (parts.quadrant & 1u) == 1u);
    return lw_trig_negate(size, (parts.quadrant + 1u) << 30u);
}
