// A number in twice the digits of float32: the sum of two, of which `high` is that sum rounded.
struct LwPair {
    high: f32,
    low: f32,
}

// A rounded result that the compiler may not see through: (a + b) - a is not b, though WGSL lets it reassociate. There
// are less than 2^31 elements, so the highest bit of their number is 0, but only the caller knows that.
fn lw_rounded(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (lw.count & 0x80000000u));
}

// a + b exactly. Source: Knuth, The Art of Computer Programming, 4.2.2, theorem B. Next to infinities nothing is lost.
fn lw_two_sum(a: f32, b: f32) -> LwPair {
    let sum = lw_rounded(a + b);
    let part = lw_rounded(sum - a);
    let lost = lw_rounded(a - lw_rounded(sum - part)) + lw_rounded(b - part);
    let finite = (bitcast<u32>(sum) & 0x7f800000u) != 0x7f800000u;
    return LwPair(sum, select(0.0, lost, finite));
}

// 2^-46 or so. Source: Dekker, "A floating-point technique for extending the available precision", 1971, add2.
fn lw_pair_add(a: LwPair, b: LwPair) -> LwPair {
    let sum = lw_two_sum(a.high, b.high);
    let low = lw_rounded(sum.low + lw_rounded(a.low + b.low));
    if ((bitcast<u32>(low) & 0x7fffffffu) == 0u) { // -0 + 0 is 0, but the sum may be -0
        return LwPair(sum.high, 0.0);
    }
    return lw_two_sum(sum.high, low);
}
