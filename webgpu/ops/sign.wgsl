fn lw_sign_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    return f32(sign(lw_order(x)));
}

fn lw_sign_int32(x: i32) -> i32 {
    return sign(x);
}
