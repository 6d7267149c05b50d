fn lw_abs_float32(x: f32) -> f32 {
    return lw_magnitude(x);
}

fn lw_abs_int32(x: i32) -> i32 {
    return abs(x);
}
