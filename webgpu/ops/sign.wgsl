fn lw_sign_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    return f32(sign(lw_order(x)));
}

template expression(int32): result = sign(x);
template expression(uint32): result = min(x, 1u);
