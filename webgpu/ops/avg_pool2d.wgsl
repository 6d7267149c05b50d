fn lw_avg_pool2d_float32_identity() -> f32 {
    return lw_negative_zero();
}

fn lw_avg_pool2d_float32_combine(sum: f32, x: f32) -> f32 {
    return sum + x;
}

// `inside` is how many elements of the window are within the image, and `size` how many it has.
fn lw_avg_pool2d_float32_finish(sum: f32, inside: u32, size: u32, counts_padding: i32) -> f32 {
    return lw_divide_float32(sum, f32(select(inside, size, counts_padding != 0)));
}
