// The summary of a row is its moments (math/moments.wgsl).
template summary(float32):
    accumulator = LwMoments; identity = LwMoments(0.0, 0.0, 0.0, 0.0);
    map = lw_moments_of(x); combine = lw_moments_join(a, b);

// The power of two that brings the squares of x into the range of float32; 1 if they are in range.
fn lw_layer_norm_float32_scale(moments: LwMoments, eps: f32) -> f32 {
    if (!lw_is_finite(moments.squares)) {
        return 0x1p-100;
    }
    return select(1.0, 0x1p100, lw_is_zero(eps) & (moments.squares < 0x1p-100));
}

// The mean, in two parts, 1 / sqrt(variance + eps), and the scale, for elements that are multiplied by the scale.
fn lw_layer_norm_float32_numbers(moments: LwMoments, scale: f32, count: u32, eps: f32) -> vec4<f32> {
    let added = select(lw_rounded(eps * scale) * scale, 0.0, lw_is_zero(eps)); // scale * scale may overflow
    let root = lw_sqrt_float32(moments.squares / f32(count) + added);
    return vec4<f32>(moments.pivot, moments.shift, lw_reciprocal_float32(root), scale);
}

fn lw_layer_norm_float32_value(x: f32, weight: f32, bias: f32, numbers: vec4<f32>) -> f32 {
    if (lw_is_nan(numbers.z)) {
        return numbers.z;
    }
    return (lw_rounded(x * numbers.w - numbers.x) - numbers.y) * numbers.z * weight + bias;
}

// What absent inputs stand for: both change nothing.
fn lw_layer_norm_float32_absent_weight() -> f32 {
    return 1.0;
}

fn lw_layer_norm_float32_absent_bias() -> f32 {
    return lw_negative_zero();
}
