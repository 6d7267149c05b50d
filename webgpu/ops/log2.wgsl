// < 2 ulp.
fn lw_log2_float32(x: f32) -> f32 {
    if (!lw_has_logarithm(x)) {
        return lw_log_special(x);
    }
    let parts = lw_log_parts(x);
    let low = parts.f * (lw_log_minimax(parts.f) * 1.44269502 + 1.92596303e-08);
    return parts.power + (parts.f * 1.44269502 + low);
}
