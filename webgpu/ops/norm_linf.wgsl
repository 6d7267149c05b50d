// Compared as integers, the bits of |x| have the order of the floats, with NaN above all of them.
fn lw_norm_linf_float32_identity() -> f32 {
    return 0.0;
}

fn lw_norm_linf_float32_map(x: f32) -> f32 {
    return lw_magnitude(x);
}

fn lw_norm_linf_float32_combine(a: f32, b: f32) -> f32 {
    return bitcast<f32>(max(bitcast<u32>(a), bitcast<u32>(b)));
}

fn lw_norm_linf_float32_finish(total: f32, count: u32) -> f32 {
    return total;
}
