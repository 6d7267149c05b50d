// A double-float: high + low, where high is the sum rounded to float32.
struct LwPair {
    high: f32,
    low: f32,
}

// Returns x, but hides from the compiler how x was computed, as WGSL lets a compiler replace (a + b) - a with b. It
// adds a hidden 0 to the bits; an exclusive or would cancel in lw_rounded(lw_rounded(x)).
fn lw_rounded(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) + lw_hidden);
}

// x * y + z, rounded twice: a product with a hidden 1, to which z is added, is exact, whether or not a compiler splits
// the fma. It takes half as long as lw_rounded(x * y) + z where that has to be protected, too.
fn lw_multiply_then_add(x: f32, y: f32, z: f32) -> f32 {
    return fma(x * y, lw_rounded(1.0), z);
}

// 0, because lw.count is below 2^31, but no compiler knows that. lanewise/webgpu/shaders.py lets entry points set it to
// (lw.count >> 31u) & groups.x. With lw.count alone, lavapipe may know it: it compiles a module again for the values of
// parameters if a branch depends on nothing else. The number of workgroups is not a parameter.
var<private> lw_hidden: u32;

// Compilers may not factor out the scale of a difference: without it, the difference may overflow.
fn lw_scaled_four(four: vec4<f32>, scale: f32) -> vec4<f32> {
    let scaled = four * scale;
    return vec4<f32>(lw_rounded(scaled.x), lw_rounded(scaled.y), lw_rounded(scaled.z), lw_rounded(scaled.w));
}

// Returns a + b exactly. If the sum is infinite, the low part is 0. Source: Knuth, The Art of Computer Programming,
// volume 2, 4.2.2, theorem B.
fn lw_two_sum(a: f32, b: f32) -> LwPair {
    let sum = lw_rounded(a + b);
    let part = lw_rounded(sum - a);
    let lost = lw_rounded(a - lw_rounded(sum - part)) + lw_rounded(b - part);
    return LwPair(sum, select(0.0, lost, lw_is_finite(sum)));
}

// a + b with a relative error of about 2^-46. Source: Dekker, "A floating-point technique for extending the available
// precision", 1971, add2. Without branches, as lw_moments_join.
fn lw_pair_add(a: LwPair, b: LwPair) -> LwPair {
    let sum = lw_two_sum(a.high, b.high);
    let low = lw_rounded(sum.low + lw_rounded(a.low + b.low));
    let total = lw_two_sum(sum.high, low);
    return LwPair(select(total.high, sum.high, lw_is_zero(low)), total.low); // -0 + 0 would be 0
}

// Returns a * b exactly, unless it overflows or underflows. Source: Dekker, 1971, mul12. Each factor is split in two
// halves of 12 bits, whose products are exact.
fn lw_two_product(a: f32, b: f32) -> LwPair {
    let product = lw_rounded(a * b);
    let a_high = lw_upper_half(a);
    let b_high = lw_upper_half(b);
    let a_low = lw_rounded(a - a_high);
    let b_low = lw_rounded(b - b_high);
    let error = lw_rounded(lw_rounded(a_high * b_high) - product);
    let inner = lw_rounded(lw_rounded(error + lw_rounded(a_high * b_low)) + lw_rounded(a_low * b_high));
    return LwPair(product, lw_rounded(inner + lw_rounded(a_low * b_low)));
}

// x with the lower 12 bits of its fraction cleared.
fn lw_upper_half(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}

// a * b with a relative error of about 2^-46.
fn lw_pair_multiply(a: LwPair, b: LwPair) -> LwPair {
    let product = lw_two_product(a.high, b.high);
    let cross = lw_rounded(lw_rounded(a.high * b.low) + lw_rounded(a.low * b.high));
    return lw_two_sum(product.high, lw_rounded(product.low + cross));
}

// a float64, as bits, times 2^k: the sum of its first 24 bits and of the others. The result must be in the range of
// float32; what is below is 0.
fn lw_pair_of_float64(x: vec2<u32>, k: i32) -> LwPair {
    let exponent = i32(lw_magnitude_bits_float64(x).y >> 20u) - 1023 + k;
    if (exponent < -100) {
        return LwPair(0.0, 0.0);
    }
    let fraction = lw_shift_left_wide(x & lw_FRACTION_BITS_FLOAT64, 11u); // the leading bit would be bit 31 of .y
    let first = f32((fraction.y | 0x80000000u) >> 8u);
    let others = f32(((fraction.y & 0xffu) << 21u) | (fraction.x >> 11u));
    let sign = x.y & lw_SIGN_BIT;
    let high = lw_scale(first, exponent - 23);
    let low = select(lw_scale(others, exponent - 52), 0.0, others == 0.0);
    return LwPair(bitcast<f32>(bitcast<u32>(high) | sign), bitcast<f32>(bitcast<u32>(low) | sign));
}
