// acosh x = log1p(y + sqrt(y (x + 1))), y = x - 1. Above 1e9, acosh x = ln x + ln 2 up to rounding; for the largest x,
// y (x + 1) would overflow.
fn lw_acosh_float32(x: f32) -> f32 {
    if (!lw_has_logarithm(x)) {
        return select(lw_log_special(x), lw_nan(), lw_is_zero(x));
    }
    if (x > 1.0e9) {
        let parts = lw_log_parts(x);
        return lw_log_natural(LwLogParts(parts.k + 1.0, parts.f));
    }
    let y = x - 1.0;
    if (y <= 0.0) {
        return select(0.0, lw_nan(), y < 0.0);
    }
    return lw_log_natural(lw_log1p_parts(y + sqrt(y * (x + 1.0))));
}
