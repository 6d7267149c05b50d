// The summary of a row is its smallest and its largest element, NaN if there is NaN.
template summary(float32):
    accumulator = vec2<f32>; identity = vec2<f32>(lw_infinity(), lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS));
    map = vec2<f32>(x, x); combine = vec2<f32>(lw_minimum_float32(a.x, b.x), lw_maximum_float32(a.y, b.y));

// The scale, which is 1, or 1/2 if max - min would overflow; then min and max - min, both scaled.
fn lw_minmax_float32_numbers(extremes: vec2<f32>, count: u32) -> vec3<f32> {
    if (!lw_is_finite(extremes.x)) {
        return vec3<f32>(1.0, extremes.x, lw_nan());
    }
    if (!lw_is_finite(extremes.y)) {
        return vec3<f32>(1.0, extremes.x, lw_infinity());
    }
    let scale = select(0.5, 1.0, lw_is_finite(extremes.y - extremes.x));
    let low = lw_rounded(extremes.x * scale);
    return vec3<f32>(scale, low, lw_rounded(extremes.y * scale) - low); // not (max - min) * scale, which overflows
}

// The division is exact enough that the largest element becomes 1. If all elements are equal, the result is 0/0, NaN.
fn lw_minmax_float32_value(x: f32, numbers: vec3<f32>) -> f32 {
    if (!lw_is_finite(x) | lw_is_nan(numbers.z)) {
        return lw_nan();
    }
    return lw_divide_float32(x * numbers.x - numbers.y, numbers.z);
}
