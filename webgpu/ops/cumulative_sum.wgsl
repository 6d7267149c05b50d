// The sum of all earlier tiles of a row: a pair of float32, so that the error does not grow with the length.
fn lw_cumulative_sum_float32_zero() -> LwPair {
    return LwPair(lw_negative_zero(), 0.0);
}

fn lw_cumulative_sum_float32_identity() -> f32 {
    return lw_negative_zero();
}

fn lw_cumulative_sum_float32_advance(before: LwPair, tile: f32) -> LwPair {
    return lw_pair_add(before, LwPair(tile, 0.0));
}

fn lw_cumulative_sum_float32_join(before: LwPair, block: LwPair) -> LwPair {
    return lw_pair_add(before, block);
}

fn lw_cumulative_sum_float32_value(sum: f32, before: LwPair) -> f32 {
    return sum + before.high;
}

fn lw_cumulative_sum_int32_zero() -> i32 {
    return 0;
}

fn lw_cumulative_sum_int32_identity() -> i32 {
    return 0;
}

fn lw_cumulative_sum_int32_advance(before: i32, tile: i32) -> i32 {
    return before + tile;
}

fn lw_cumulative_sum_int32_join(before: i32, block: i32) -> i32 {
    return before + block;
}

fn lw_cumulative_sum_int32_value(sum: i32, before: i32) -> i32 {
    return sum + before;
}
