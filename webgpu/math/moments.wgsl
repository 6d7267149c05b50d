// What is known of some elements: their mean is pivot + shift. The pivot is one of them, so x - pivot loses nothing
// that matters beside their spread, however large the mean is.
struct LwMoments {
    count: f32,
    pivot: f32,
    shift: f32,
    squares: f32, // the sum of squared deviations from the mean
}

// The spread of an infinity or NaN is NaN.
fn lw_moments_of(x: f32) -> LwMoments {
    let finite = (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
    return LwMoments(1.0, x, 0.0, select(lw_from_bits(0x7fc00000u), 0.0, finite));
}

// Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, (2.1).
fn lw_moments_join(a: LwMoments, b: LwMoments) -> LwMoments {
    if (b.count == 0.0) {
        return a;
    }
    if (a.count == 0.0) {
        return b;
    }
    let count = a.count + b.count;
    let share = b.count / count;
    let apart = (b.pivot - a.pivot) + (b.shift - a.shift);
    return LwMoments(count, a.pivot, a.shift + apart * share, a.squares + b.squares + apart * apart * a.count * share);
}
