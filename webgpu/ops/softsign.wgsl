fn lw_softsign_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let bounded = clamp(x, -33554432.0, 33554432.0);
    return bounded / (1.0 + lw_magnitude(bounded));
}
