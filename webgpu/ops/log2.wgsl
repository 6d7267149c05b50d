const lw_LOG2_E_HI = 1.44269502;
const lw_LOG2_E_LO = 1.92596303e-08;

// log2 x = k + f (1 + t) log2(e), where x = 2^k (1 + f) and ln(1 + f) = f (1 + t). Error < 2 ulp.
fn lw_log2_float32(x: f32) -> f32 {
    if (!lw_has_logarithm(x)) {
        return lw_log_special(x);
    }
    let parts = lw_log_parts(x);
    let low = parts.f * (lw_log_minimax(parts.f) * lw_LOG2_E_HI + lw_LOG2_E_LO);
    return parts.k + (parts.f * lw_LOG2_E_HI + low);
}
