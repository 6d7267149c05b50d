// Conversions between float32 and floats of 16 bits, whose fraction has `width` bits: 10 in float16, 7 in bfloat16.
// Exact, or rounded once to nearest, ties to even. A driver evaluates what depends on the width alone.

// The exponent bias of float32 less that of the float.
fn lw_half_bias(width: u32) -> u32 {
    return 128u - (1u << (14u - width));
}

fn lw_float32_of_half(x: u32, width: u32) -> f32 {
    let bias = lw_half_bias(width);
    let bits = (x & 0x7fffu) << (23u - width);
    let is_top = bits >> 23u == (1u << (15u - width)) - 1u; // infinity or NaN
    var magnitude = bits + (bias << select(23u, 24u, is_top));
    let denormal = f32(bits >> (23u - width)) * bitcast<f32>(lw_power_of_two_bits(i32(bias) - i32(width) - 126));
    // With a bias of 0, denormals stay denormals.
    magnitude = select(magnitude, bitcast<u32>(denormal), (bits >> 23u == 0u) & (bias > 0u));
    return bitcast<f32>(magnitude | ((x & 0x8000u) << 16u));
}

fn lw_half_of_float32(x: f32, width: u32) -> u32 {
    let bias = lw_half_bias(width);
    let infinity = ((1u << (15u - width)) - 1u) << width;
    let bits = lw_magnitude_bits(x);
    var magnitude = lw_shift_right_rounded(bits, 23u - width) - (bias << width);
    let shift = bias + 24u - width - (bits >> 23u); // of the mantissa of what becomes a denormal
    let denormal = lw_shift_right_rounded(lw_mantissa(bits), shift);
    magnitude = select(magnitude, denormal, (bits >> 23u <= bias) & (bias > 0u));
    magnitude = select(min(magnitude, infinity), infinity | (1u << (width - 1u)), lw_is_nan(x));
    return magnitude | ((bitcast<u32>(x) >> 16u) & 0x8000u);
}

// high * 2^16 + low, rounded once: the product is exact.
fn lw_add_halves(high: f32, low: f32) -> f32 {
    return high * 65536.0 + low;
}
