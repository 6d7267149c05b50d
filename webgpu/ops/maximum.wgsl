// Does not use the built-in max, which may ignore a NaN and does not order -0 below 0.
fn lw_maximum_float32(x1: f32, x2: f32) -> f32 {
    if (lw_is_nan(x1)) {
        return x1;
    }
    if (lw_is_nan(x2) | (lw_total_order(x1) < lw_total_order(x2))) {
        return x2;
    }
    return x1;
}

template binary(int32 uint32): result = max(x1, x2);
