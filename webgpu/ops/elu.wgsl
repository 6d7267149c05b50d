fn lw_elu_float32(x: f32, alpha: f32) -> f32 {
    if (lw_is_nan(x) | (lw_order(x) > 0)) {
        return x;
    }
    return alpha * lw_expm1_float32(x);
}
