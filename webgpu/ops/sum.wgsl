// The identity of float addition is -0, not 0: x + -0 is x for every x, but x + 0 turns an x of -0 into 0.
fn lw_sum_float32_identity() -> f32 {
    return lw_negative_zero();
}

fn lw_sum_float32_map(x: f32) -> f32 {
    return x;
}

fn lw_sum_float32_combine(a: f32, b: f32) -> f32 {
    return a + b;
}

fn lw_sum_float32_finish(total: f32, count: u32) -> f32 {
    return select(total, 0.0, count == 0u);
}

fn lw_sum_int32_identity() -> i32 {
    return 0;
}

fn lw_sum_int32_map(x: i32) -> i32 {
    return x;
}

fn lw_sum_int32_combine(a: i32, b: i32) -> i32 {
    return a + b;
}

fn lw_sum_int32_finish(total: i32, count: u32) -> i32 {
    return total;
}
