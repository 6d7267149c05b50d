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
