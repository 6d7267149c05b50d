// Rows are summarized as in softmax.
template summary(float32):
    identity = lw_softmax_float32_identity(); map = x; combine = lw_maximum_float32(a, b);

fn lw_log_softmax_float32_term(x: f32, largest: f32) -> f32 {
    return lw_softmax_float32_term(x, largest);
}

// The largest element, and the logarithm of the sum.
fn lw_log_softmax_float32_numbers(largest: f32, total: f32, count: u32) -> vec2<f32> {
    return vec2<f32>(largest, select(lw_nan(), lw_log_float32(total), lw_is_finite(largest)));
}

fn lw_log_softmax_float32_value(x: f32, numbers: vec2<f32>) -> f32 {
    if (lw_is_nan(numbers.y)) {
        return numbers.y;
    }
    if (!lw_is_finite(x)) { // -inf
        return x;
    }
    return lw_rounded(x - numbers.x) - numbers.y;
}
