// The sum, accumulated in double-floats (math/pair.wgsl).
fn lw_sum_compensated_float32_identity() -> LwPair {
    return LwPair(lw_negative_zero(), 0.0);
}

fn lw_sum_compensated_float32_map(x: f32) -> LwPair {
    return LwPair(x, 0.0);
}

fn lw_sum_compensated_float32_combine(a: LwPair, b: LwPair) -> LwPair {
    return lw_pair_add(a, b);
}

fn lw_sum_compensated_float32_finish(total: LwPair, count: u32) -> f32 {
    return select(total.high, 0.0, count == 0u);
}

fn lw_sum_compensated_int32_identity() -> i32 {
    return 0;
}

fn lw_sum_compensated_int32_map(x: i32) -> i32 {
    return x;
}

fn lw_sum_compensated_int32_combine(a: i32, b: i32) -> i32 {
    return a + b;
}

fn lw_sum_compensated_int32_finish(total: i32, count: u32) -> i32 {
    return total;
}
