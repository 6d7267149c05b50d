// The summary of a row is its largest element, NaN if there is NaN. The terms are e^(x - max), of which one is 1.
template summary(float32):
    identity = lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS); map = x; combine = lw_maximum_float32(a, b);

// e^(x - largest) for a finite `largest`; 0 for x = -inf.
fn lw_softmax_float32_term(x: f32, largest: f32) -> f32 {
    return select(0.0, lw_exp_term(x - largest), lw_is_finite(x));
}

// The largest element, and the factor of the terms. A row that contains NaN or +inf, or only -inf, becomes NaN.
fn lw_softmax_float32_numbers(largest: f32, total: f32, count: u32) -> vec2<f32> {
    return vec2<f32>(largest, select(lw_nan(), 1.0 / total, lw_is_finite(largest)));
}

fn lw_softmax_float32_value(x: f32, numbers: vec2<f32>) -> f32 {
    return lw_softmax_float32_value_of_term(lw_softmax_float32_term(x, numbers.x), numbers);
}

fn lw_softmax_float32_value_of_term(term: f32, numbers: vec2<f32>) -> f32 {
    return select(term * numbers.y, numbers.y, lw_is_nan(numbers.y));
}
