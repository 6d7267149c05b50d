// < 2 ulp.
fn lw_log10_float32(x: f32) -> f32 {
    if (!lw_has_logarithm(x)) {
        return lw_log_special(x);
    }
    let parts = lw_log_parts(x);
    let low = parts.f * (lw_log_minimax(parts.f) * 0.434294492 - 1.010305e-08) + parts.power * 4.60503907e-06;
    return parts.power * 0.301025391 + (parts.f * 0.434294492 + low);
}
