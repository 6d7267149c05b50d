// Sums of squares without overflow or underflow, as on the CPU (core/reduce/squares.h): elements are squared again,
// times a power of two, if the sum of their squares is out of range.

// The power of two by which elements are multiplied if the sum of their squares overflowed, or is so small that squares
// lost to underflow may matter; otherwise 1. The limits leave room for a sum of 2^31 squares.
fn lw_squares_scale(sum: f32) -> f32 {
    return select(select(1.0, 0x1p80, sum < 0x1p-80), 0x1p-80, lw_magnitude_bits(sum) >= lw_power_of_two_bits(100));
}

// The sum of squares of some elements and, once the sum of a block is known to be in range, the binary logarithm of
// their scale.
fn lw_squares_join_blocks(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let to = min(a.y, b.y);
    return vec2<f32>(lw_squares_rescaled(a, to) + lw_squares_rescaled(b, to), to);
}

// The sum for elements whose scale has a binary logarithm of `to`, at most what it was.
fn lw_squares_rescaled(sum: vec2<f32>, to: f32) -> f32 {
    return select(lw_scale(sum.x, 2 * i32(to - sum.y)), sum.x, sum.y == to);
}
