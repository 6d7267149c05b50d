// The count, mean and sum of squared deviations of some elements. The mean is pivot + shift, where pivot is one of the
// elements, so that the rounding error of x - pivot is small relative to the spread of the elements, however large the
// mean is.
struct LwMoments {
    count: f32,
    pivot: f32,
    shift: f32,
    squares: f32, // the sum of squared deviations from the mean
}

// The moments of one element. The squared deviation of an infinity or NaN is NaN.
fn lw_moments_of(x: f32) -> LwMoments {
    return LwMoments(1.0, x, 0.0, select(lw_nan(), 0.0, lw_is_finite(x)));
}

// The moments of the elements of m and another one, where `share` is 1 divided by their count. Source: Welford, "Note
// on a method for calculating corrected sums of squares and products", 1962.
fn lw_moments_add(m: LwMoments, x: f32, share: f32) -> LwMoments {
    let pivot = select(m.pivot, x, share == 1.0);
    let distance = (x - pivot) - m.shift;
    let squares = m.squares + distance * distance * (1.0 - share);
    return LwMoments(m.count + 1.0, pivot, m.shift + distance * share, select(lw_nan(), squares, lw_is_finite(x)));
}

// The moments of all elements of a and b together. Source: Chan, Golub and LeVeque, "Algorithms for computing the
// sample variance", 1983, (2.1). Without branches: SwiftShader inlines all calls, and compiled those of var for
// minutes, until memory ran out.
fn lw_moments_join(a: LwMoments, b: LwMoments) -> LwMoments {
    let count = a.count + b.count;
    let share = b.count / max(count, 1.0);
    let distance = select((b.pivot - a.pivot) + (b.shift - a.shift), 0.0, b.count == 0.0);
    let squares = a.squares + b.squares + distance * distance * a.count * share;
    let pivot = select(a.pivot, b.pivot, a.count == 0.0);
    let shift = select(a.shift + distance * share, b.shift, a.count == 0.0);
    return LwMoments(count, pivot, shift, select(squares, b.squares, a.count == 0.0));
}

// The power of two by which the elements of a block are multiplied if their squares overflow or underflow; otherwise 1.
// The limits leave room for a sum of 2^31 squares, and for terms that are smaller than the sum.
fn lw_moments_scale(m: LwMoments) -> f32 {
    let is_small = (m.count > 0.0) & (m.squares < 0x1p-80) & (lw_magnitude_bits(m.pivot) < lw_power_of_two_bits(-16));
    return select(select(1.0, 0x1p80, is_small), 0x1p-84, lw_magnitude_bits(m.squares) >= lw_power_of_two_bits(90));
}

// The moments of elements that were multiplied by 2^exponent. The count says so: it is multiplied by 2^64 if they were
// scaled down, by 2^-64 if up.
fn lw_moments_marked(m: LwMoments, exponent: i32) -> LwMoments {
    let mark = select(select(1.0, 0x1p-64, exponent > 0), 0x1p64, exponent < 0);
    return LwMoments(m.count * mark, m.pivot, m.shift, m.squares);
}

// The binary logarithm of a block's scale.
fn lw_moments_exponent(m: LwMoments) -> i32 {
    return select(select(0, 80, (m.count > 0.0) & (m.count < 0x1p-32)), -84, m.count > 0x1p32);
}

// The moments of elements that are multiplied by 2^k, for k <= 0.
fn lw_moments_rescaled(m: LwMoments, k: i32) -> LwMoments {
    let factor = select(bitcast<f32>(lw_power_of_two_bits(max(k, -126))), 0.0, k < -126);
    let pivot = lw_rounded(m.pivot * factor); // if the factor was factored out, pivot and shift would be added first
    let shift = lw_rounded(m.shift * factor);
    return LwMoments(m.count, pivot, shift, lw_rounded(m.squares * factor) * factor);
}

// The moments of all elements of two blocks, with the smaller scale of both. It is 2^-84 if an element that is not
// scaled is so large that the distance between the blocks may overflow.
fn lw_moments_join_blocks(a: LwMoments, b: LwMoments) -> LwMoments {
    let from_a = lw_moments_exponent(a);
    let from_b = lw_moments_exponent(b);
    let size_a = select(0u, lw_magnitude_bits(a.pivot), from_a == 0);
    let size_b = select(0u, lw_magnitude_bits(b.pivot), from_b == 0);
    let to = select(min(from_a, from_b), -84, max(size_a, size_b) >= lw_power_of_two_bits(44));
    let own_a = lw_moments_rescaled(lw_moments_marked(a, -from_a), to - from_a);
    let own_b = lw_moments_rescaled(lw_moments_marked(b, -from_b), to - from_b);
    return lw_moments_marked(lw_moments_join(own_a, own_b), to);
}

// x * 2^k, for an x that is normal unless k is 0.
fn lw_moments_unscaled(x: f32, k: i32) -> f32 {
    if ((k == 0) | lw_is_zero(x) | !lw_is_finite(x)) {
        return x;
    }
    return lw_scale(x, k);
}
