fn lw_min_float32_identity() -> f32 {
    return lw_infinity();
}

fn lw_min_float32_map(x: f32) -> f32 {
    return x;
}

fn lw_min_float32_combine(a: f32, b: f32) -> f32 {
    return lw_minimum_float32(a, b);
}

fn lw_min_float32_finish(total: f32, count: u32) -> f32 {
    return total;
}

fn lw_min_int32_identity() -> i32 {
    return lw_INT32_MAX;
}

fn lw_min_int32_map(x: i32) -> i32 {
    return x;
}

fn lw_min_int32_combine(a: i32, b: i32) -> i32 {
    return min(a, b);
}

fn lw_min_int32_finish(total: i32, count: u32) -> i32 {
    return total;
}
