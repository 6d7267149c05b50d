// The summary of a row is its largest element, NaN if there is NaN. The terms are e^(x - max), of which one is 1.
fn lw_softmax_float32_identity() -> f32 {
    return lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS);
}

fn lw_softmax_float32_map(x: f32) -> f32 {
    return x;
}

fn lw_softmax_float32_combine(a: f32, b: f32) -> f32 {
    return lw_maximum_float32(a, b);
}

// e^(x - largest) for a finite `largest`. The difference is computed only for finite x: a compiler may assume so.
fn lw_softmax_float32_term(x: f32, largest: f32) -> f32 {
    if (!lw_is_finite(x)) {
        return 0.0;
    }
    return lw_exp_float32(x - largest);
}

// The largest element, and the factor of the terms. A row that contains NaN or +inf, or only -inf, becomes NaN.
fn lw_softmax_float32_numbers(largest: f32, total: f32, count: u32) -> vec2<f32> {
    return vec2<f32>(largest, select(lw_nan(), 1.0 / total, lw_is_finite(largest)));
}

fn lw_softmax_float32_value(x: f32, numbers: vec2<f32>) -> f32 {
    if (lw_is_nan(numbers.y)) {
        return numbers.y;
    }
    return lw_softmax_float32_term(x, numbers.x) * numbers.y;
}
