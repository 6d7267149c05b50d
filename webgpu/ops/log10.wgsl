const lw_LOG10_E_HI = 0.434294492;
const lw_LOG10_E_LO = -1.010305e-08;
const lw_LOG10_2_HI_11BIT = 0.301025391;
const lw_LOG10_2_LO = 4.60503907e-06;

// log10 x = k log10(2) + f (1 + t) log10(e), where x = 2^k (1 + f) and ln(1 + f) = f (1 + t). Error < 2 ulp.
fn lw_log10_float32(x: f32) -> f32 {
    if (!lw_has_logarithm(x)) {
        return lw_log_special(x);
    }
    let parts = lw_log_parts(x);
    let low = parts.f * (lw_log_minimax(parts.f) * lw_LOG10_E_HI + lw_LOG10_E_LO) + parts.k * lw_LOG10_2_LO;
    return parts.k * lw_LOG10_2_HI_11BIT + (parts.f * lw_LOG10_E_HI + low);
}
