// |x| is clamped to 2^25, so that infinity is not divided by itself. For larger |x| the quotient rounds to 1 or -1
// anyway.
fn lw_softsign_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let bounded = clamp(x, -0x1p25, 0x1p25);
    return bounded / (1.0 + lw_magnitude(bounded));
}
