// The square root of the sum of squares. The CPU recomputes a block if its squares overflow or underflow. Here each
// element is scaled up, down or not at all; its square is added to one of three sums. None of the sums overflows with
// up to 2^31 elements. Source: Blue, "A portable Fortran program to find the Euclidean norm of a vector", 1978.
struct LwSquares {
    small: f32,  // sum of (x * 2^80)^2, |x| < 2^-40
    medium: f32,
    large: f32,  // sum of (x * 2^-80)^2, |x| >= 2^40, infinities and NaN included
}

fn lw_norm_l2_float32_identity() -> LwSquares {
    return LwSquares(0.0, 0.0, 0.0);
}

fn lw_norm_l2_float32_map(x: f32) -> LwSquares {
    let bits = lw_magnitude_bits(x);
    if (bits < lw_power_of_two_bits(-40)) {
        let scaled = x * 0x1p80;
        return LwSquares(scaled * scaled, 0.0, 0.0);
    }
    if (bits < lw_power_of_two_bits(40)) {
        return LwSquares(0.0, x * x, 0.0);
    }
    let scaled = x * 0x1p-80;
    return LwSquares(0.0, 0.0, scaled * scaled);
}

fn lw_norm_l2_float32_combine(a: LwSquares, b: LwSquares) -> LwSquares {
    return LwSquares(a.small + b.small, a.medium + b.medium, a.large + b.large);
}

// Takes the first nonzero sum in the order large, medium, small, and adds the next one, times 2^-160 to match scales.
// If the first is `large`, `small` is too small to change the result. lw_scale() multiplies by 2^-160, because this
// number is 0 in float32. Two factors of 2^-80 would not do, because a compiler may merge them.
fn lw_norm_l2_float32_finish(total: LwSquares, count: u32) -> f32 {
    if (bitcast<u32>(total.large) != 0u) {
        let root = lw_sqrt_float32(total.large + lw_scale(total.medium, -160));
        return select(lw_scale(root, 80), root, lw_is_nan(root));
    }
    if (bitcast<u32>(total.medium) != 0u) {
        return lw_sqrt_float32(total.medium + lw_scale(total.small, -160));
    }
    if (bitcast<u32>(total.small) != 0u) {
        return lw_scale(lw_sqrt_float32(total.small), -80);
    }
    return 0.0;
}
