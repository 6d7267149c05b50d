fn lw_selu_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    return select(1.7580993408473766 * lw_expm1_float32(x), 1.0507009873554805 * x, x > 0.0);
}
