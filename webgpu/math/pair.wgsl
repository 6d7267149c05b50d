// A double-float: high + low, where high is the sum rounded to float32.
struct LwPair {
    high: f32,
    low: f32,
}

// Returns x, but hides from the compiler how x was computed, because WGSL lets a compiler replace (a + b) - a with b.
// lw.count is below 2^31, so the sign is never flipped, but the compiler does not know that.
fn lw_rounded(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (lw.count & lw_SIGN_BIT));
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
// precision", 1971, add2.
fn lw_pair_add(a: LwPair, b: LwPair) -> LwPair {
    let sum = lw_two_sum(a.high, b.high);
    let low = lw_rounded(sum.low + lw_rounded(a.low + b.low));
    if (lw_is_zero(low)) { // adding a low part of 0 would turn a sum of -0 into 0
        return LwPair(sum.high, 0.0);
    }
    return lw_two_sum(sum.high, low);
}
