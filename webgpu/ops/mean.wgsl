// The sum divided by the count, with a correctly rounded division. The mean of no elements is 0/0, which is NaN.
fn lw_mean_float32_identity() -> f32 {
    return lw_negative_zero();
}

fn lw_mean_float32_map(x: f32) -> f32 {
    return x;
}

fn lw_mean_float32_combine(a: f32, b: f32) -> f32 {
    return a + b;
}

fn lw_mean_float32_finish(total: f32, count: u32) -> f32 {
    return lw_divide_float32(select(total, 0.0, count == 0u), f32(count));
}
