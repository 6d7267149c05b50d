// Near zero the result is x, which keeps denormals and the sign of zero.
fn lw_log1p_float32(x: f32) -> f32 {
    if (lw_magnitude(x) < 2.98e-8) {
        return x;
    }
    let sum = 1.0 + x;
    if (lw_is_nan(x) | !lw_has_logarithm(sum)) {
        return lw_log_special(select(sum, x, lw_is_nan(x)));
    }
    return lw_log_natural(lw_log1p_parts(x));
}
