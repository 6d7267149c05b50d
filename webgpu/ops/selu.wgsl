const lw_SELU_SCALE = 1.0507009873554805;
const lw_SELU_SCALE_ALPHA = 1.7580993408473766;

fn lw_selu_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    return select(lw_SELU_SCALE_ALPHA * lw_expm1_float32(x), lw_SELU_SCALE * x, x > 0.0);
}
