fn lw_multiply_float32(x1: f32, x2: f32) -> f32 {
    return x1 * x2;
}

fn lw_multiply_int32(x1: i32, x2: i32) -> i32 {
    return x1 * x2;
}
