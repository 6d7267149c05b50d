fn lw_sum_of_squares_float32_identity() -> f32 {
    return 0.0;
}

fn lw_sum_of_squares_float32_map(x: f32) -> f32 {
    return x * x;
}

fn lw_sum_of_squares_float32_combine(a: f32, b: f32) -> f32 {
    return a + b;
}

fn lw_sum_of_squares_float32_finish(total: f32, count: u32) -> f32 {
    return total;
}

fn lw_sum_of_squares_int32_identity() -> i32 {
    return 0;
}

fn lw_sum_of_squares_int32_map(x: i32) -> i32 {
    return x * x;
}

fn lw_sum_of_squares_int32_combine(a: i32, b: i32) -> i32 {
    return a + b;
}

fn lw_sum_of_squares_int32_finish(total: i32, count: u32) -> i32 {
    return total;
}
