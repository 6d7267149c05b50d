// start + i * step. The int32 results are in range, so their computation may overflow meanwhile.
fn lw_arange_int32(i: u32, start: vec2<u32>, step: vec2<u32>) -> i32 {
    return bitcast<i32>(start.x + i * step.x);
}

// 1. Scale start and step, which are float64, by a power of two, so that neither start nor i * step overflows float32.
// 2. Compute in pairs of float32. The products of a half of step with 11 bits of i are exact.
// 3. Scale back. The result is rounded once, unless it is denormal.
fn lw_arange_float32(i: u32, start: vec2<u32>, step: vec2<u32>) -> f32 {
    let k = lw_arange_exponent(start, step);
    return lw_arange_scaled(lw_arange_pair(i, start, step, k), k);
}

// Elements 4 i to 4 i + 3, of which the last three add a multiple of step to another.
fn lw_arange_float32_four(i: u32, start: vec2<u32>, step: vec2<u32>) -> vec4<f32> {
    let k = lw_arange_exponent(start, step);
    let one = lw_pair_of_float64(step, -k);
    let a = lw_arange_pair(4u * i, start, step, k);
    let b = lw_pair_add(a, one);
    let c = lw_pair_add(a, LwPair(2.0 * one.high, 2.0 * one.low));
    let d = lw_pair_add(c, one);
    return vec4<f32>(lw_arange_scaled(a, k), lw_arange_scaled(b, k), lw_arange_scaled(c, k), lw_arange_scaled(d, k));
}

fn lw_arange_exponent(start: vec2<u32>, step: vec2<u32>) -> i32 {
    let exponents = (vec2<i32>(bitcast<i32>(start.y), bitcast<i32>(step.y)) >> vec2<u32>(20u)) & vec2<i32>(0x7ff);
    return max(exponents.x, exponents.y + 31) - 1023;
}

fn lw_arange_pair(i: u32, start: vec2<u32>, step: vec2<u32>, k: i32) -> LwPair {
    let distance = lw_pair_of_float64(step, -k);
    let high = lw_upper_half(distance.high);
    let low = lw_rounded(distance.high - high);
    var sum = lw_pair_of_float64(start, -k);
    for (var shift = 0u; shift < 32u; shift += 11u) {
        let digits = f32(((i >> shift) & 0x7ffu) << shift);
        sum = lw_pair_add(sum, LwPair(high * digits, 0.0));
        sum = lw_pair_add(sum, LwPair(low * digits, 0.0));
        sum = lw_pair_add(sum, LwPair(distance.low * digits, 0.0));
    }
    return sum;
}

fn lw_arange_scaled(sum: LwPair, k: i32) -> f32 {
    if (lw_is_zero(sum.high)) {
        return 0.0;
    }
    return lw_scale(sum.high, k);
}
