// asin |x| is angle, or pi/2 - 2 * angle if |x| > 1/2, where angle comes from lw_asin_reduce. Small x are returned
// unchanged, denormals included.
fn lw_asin_float32(x: f32) -> f32 {
    if (lw_is_nan(x) | (lw_magnitude(x) > 1.0)) {
        return lw_nan();
    }
    if (lw_magnitude(x) < 1e-4) {
        return x;
    }
    let parts = lw_asin_reduce(x);
    return lw_copysign(select(parts.angle, lw_PI_2 - 2.0 * parts.angle, parts.is_complement), x);
}
