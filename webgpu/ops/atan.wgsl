// For |x| > 1, atan |x| = pi/2 - atan(1 / |x|). For |x| >= 1e8 that rounds to pi/2.
fn lw_atan_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let size = lw_magnitude(x);
    if (size > 1.0) {
        return lw_copysign(lw_PI_2 - lw_atan_minimax(1.0 / min(size, 1e8)), x);
    }
    return lw_copysign(lw_atan_minimax(size), x);
}
