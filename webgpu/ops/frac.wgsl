// x - trunc(x), exactly. For |x| < 1 the result is x, denormals included, except that -0 gives 0.
fn lw_frac_float32(x: f32) -> f32 {
    let magnitude = bitcast<u32>(x) & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) {
        return lw_from_bits(0x7fc00000u);
    }
    if (magnitude < 0x3f800000u) {
        return bitcast<f32>(select(bitcast<u32>(x), 0u, magnitude == 0u));
    }
    return x - lw_trunc_float32(x);
}
