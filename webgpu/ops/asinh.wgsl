// asinh |x| = log1p(|x| + x^2 / (1 + sqrt(1 + x^2))). Above 1e9, where x^2 could overflow, asinh |x| = ln |x| + ln 2.
fn lw_asinh_float32(x: f32) -> f32 {
    let size = lw_magnitude(x);
    if ((size < 2.98e-8) | !lw_has_logarithm(size)) {
        return x;
    }
    if (size > 1.0e9) {
        let parts = lw_log_parts(size);
        return lw_copysign(lw_log_natural(LwLogParts(parts.k + 1.0, parts.f)), x);
    }
    let square = x * x;
    return lw_copysign(lw_log_natural(lw_log1p_parts(size + square / (1.0 + sqrt(1.0 + square)))), x);
}
