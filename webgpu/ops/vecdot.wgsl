// Each product is rounded before it is added.
fn lw_vecdot_float32_identity() -> f32 {
    return lw_negative_zero();
}

fn lw_vecdot_float32_map(x1: f32, x2: f32) -> f32 {
    return lw_rounded(x1 * x2);
}

fn lw_vecdot_float32_combine(a: f32, b: f32) -> f32 {
    return a + b;
}

fn lw_vecdot_float32_finish(total: f32, count: u32) -> f32 {
    return select(total, 0.0, count == 0u);
}

fn lw_vecdot_int32_identity() -> i32 {
    return 0;
}

fn lw_vecdot_int32_map(x1: i32, x2: i32) -> i32 {
    return x1 * x2;
}

fn lw_vecdot_int32_combine(a: i32, b: i32) -> i32 {
    return a + b;
}

fn lw_vecdot_int32_finish(total: i32, count: u32) -> i32 {
    return total;
}
