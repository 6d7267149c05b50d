// Error < 1 ulp.
fn lw_log_float32(x: f32) -> f32 {
    if (!lw_has_logarithm(x)) {
        return lw_log_special(x);
    }
    return lw_log_natural(lw_log_parts(x));
}
