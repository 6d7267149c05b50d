fn lw_max_float32_identity() -> f32 {
    return lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS);
}

fn lw_max_float32_map(x: f32) -> f32 {
    return x;
}

fn lw_max_float32_combine(a: f32, b: f32) -> f32 {
    return lw_maximum_float32(a, b);
}

fn lw_max_float32_finish(total: f32, count: u32) -> f32 {
    return total;
}

fn lw_max_int32_identity() -> i32 {
    return lw_INT32_MIN;
}

fn lw_max_int32_map(x: i32) -> i32 {
    return x;
}

fn lw_max_int32_combine(a: i32, b: i32) -> i32 {
    return max(a, b);
}

fn lw_max_int32_finish(total: i32, count: u32) -> i32 {
    return total;
}
