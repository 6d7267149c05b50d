// acos x is pi/2 - asin x for |x| <= 1/2, 2 * angle for x > 1/2, and pi - 2 * angle for x < -1/2, where angle comes
// from lw_asin_reduce.
fn lw_acos_float32(x: f32) -> f32 {
    if (lw_is_nan(x) | (lw_magnitude(x) > 1.0)) {
        return lw_nan();
    }
    let parts = lw_asin_reduce(x);
    if (parts.is_complement) {
        let angle = 2.0 * parts.angle;
        return select(angle, lw_PI - angle, x < 0.0);
    }
    return lw_PI_2 - lw_copysign(parts.angle, x);
}
