// x - trunc(x), exactly. For |x| < 1 the result is x, denormals included, except that -0 gives 0.
fn lw_frac_float32(x: f32) -> f32 {
    let magnitude = lw_magnitude_bits(x);
    if (magnitude >= lw_INFINITY_BITS) {
        return lw_nan();
    }
    if (magnitude < lw_ONE_BITS) {
        return bitcast<f32>(select(bitcast<u32>(x), 0u, magnitude == 0u));
    }
    return x - lw_trunc_float32(x);
}
