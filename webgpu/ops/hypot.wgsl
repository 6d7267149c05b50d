// sqrt(x1^2 + x2^2). Both magnitudes are scaled so that the larger is in [1, 2), and the result is scaled back. The
// scale of the smaller is limited: if it is far below the larger, it does not change the result.
fn lw_hypot_float32(x1: f32, x2: f32) -> f32 {
    let a = bitcast<u32>(x1) & 0x7fffffffu;
    let b = bitcast<u32>(x2) & 0x7fffffffu;
    if (a == 0x7f800000u || b == 0x7f800000u) {
        return lw_from_bits(0x7f800000u);
    }
    let larger_bits = max(a, b);
    let smaller_bits = min(a, b);
    if (larger_bits > 0x7f800000u || smaller_bits == 0u) {
        return lw_from_bits(larger_bits);
    }
    let larger = lw_unpack(larger_bits);
    let smaller = lw_unpack(smaller_bits);
    let exponent = larger.exponent + 23;
    let x = f32(larger.mantissa) * 0x1p-23;
    let y = lw_scale(f32(smaller.mantissa), max(smaller.exponent - exponent, -60));
    return lw_scale(sqrt(x * x + y * y), exponent);
}
