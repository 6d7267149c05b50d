fn lw_norm_l1_float32_identity() -> f32 {
    return 0.0;
}

fn lw_norm_l1_float32_map(x: f32) -> f32 {
    return lw_magnitude(x);
}

fn lw_norm_l1_float32_combine(a: f32, b: f32) -> f32 {
    return a + b;
}

fn lw_norm_l1_float32_finish(total: f32, count: u32) -> f32 {
    return total;
}
