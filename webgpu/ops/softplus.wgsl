// softplus x = max(x, 0) + log1p(e^-|x|). To float32 accuracy it equals e^x for x < -20, and x for x > 20.
fn lw_softplus_float32(x: f32) -> f32 {
    if (lw_is_nan(x) | (x > 20.0)) {
        return x;
    }
    if (x < -20.0) {
        return lw_exp_float32(x);
    }
    return max(x, 0.0) + lw_log1p_float32(lw_exp_value(lw_exp_parts(-lw_magnitude(x))));
}
