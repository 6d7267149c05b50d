// ceil x = -floor(-x).
fn lw_ceil_float32(x: f32) -> f32 {
    return lw_negative_float32(lw_floor_float32(lw_negative_float32(x)));
}

fn lw_ceil_int32(x: i32) -> i32 {
    return x;
}
