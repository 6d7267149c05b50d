fn lw_hardswish_float32(x: f32) -> f32 {
    if (lw_is_nan(x) | (x >= 3.0)) {
        return x;
    }
    return select(x * (x + 3.0) / 6.0, 0.0, x <= -3.0);
}
