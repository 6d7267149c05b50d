// tan |x| is sin r / cos r for even n and -cos r / sin r for odd n, where |x| = n pi/2 + r (math/trig.wgsl). Small x
// are returned unchanged, denormals included.
fn lw_tan_float32(x: f32) -> f32 {
    if (!lw_is_finite(x)) {
        return lw_nan();
    }
    if (lw_magnitude(x) < 1e-4) {
        return x;
    }
    let parts = lw_trig_reduce(x);
    let sine = lw_sin_minimax(parts.r);
    let cosine = lw_cos_minimax(parts.r);
    let odd = (parts.quadrant & 1u) == 1u;
    let size = select(sine, cosine, odd) / select(cosine, sine, odd);
    return lw_trig_negate(size, (parts.quadrant << 31u) ^ bitcast<u32>(x));
}
