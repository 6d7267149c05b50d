// sin |x| is sin r, cos r, -sin r or -cos r for n modulo 4 = 0 to 3, where |x| = n pi/2 + r (math/trig.wgsl). Small x
// are returned unchanged, denormals included.
fn lw_sin_float32(x: f32) -> f32 {
    if (!lw_is_finite(x)) {
        return lw_nan();
    }
    if (lw_magnitude(x) < 1e-4) {
        return x;
    }
    let parts = lw_trig_reduce(x);
    let size = select(lw_sin_minimax(parts.r), lw_cos_minimax(parts.r), (parts.quadrant & 1u) == 1u);
    return lw_trig_negate(size, (parts.quadrant << 30u) ^ bitcast<u32>(x));
}
