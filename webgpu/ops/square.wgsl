fn lw_square_float32(x: f32) -> f32 {
    return x * x;
}

fn lw_square_int32(x: i32) -> i32 {
    return x * x;
}
