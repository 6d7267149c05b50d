fn lw_conv2d_float32_identity() -> f32 {
    return 0.0;
}

fn lw_conv2d_float32_combine(sum: f32, x: f32, weight: f32) -> f32 {
    return sum + x * weight;
}

fn lw_conv2d_float32_finish(sum: f32, bias: f32) -> f32 {
    return sum + bias;
}
