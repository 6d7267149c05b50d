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

template reduction(int32): identity = 0; map = x; combine = a + b; finish = total;
