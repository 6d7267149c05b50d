// sqrt(x1^2 + x2^2). Both magnitudes are scaled by the power of two that brings the larger into [1, 2), and the result
// is scaled back. The smaller magnitude is not scaled below 2^-37, where it no longer changes the result.
fn lw_hypot_float32(x1: f32, x2: f32) -> f32 {
    let a = lw_magnitude_bits(x1);
    let b = lw_magnitude_bits(x2);
    if ((a == lw_INFINITY_BITS) | (b == lw_INFINITY_BITS)) {
        return lw_infinity();
    }
    let larger_bits = max(a, b);
    let smaller_bits = min(a, b);
    if ((larger_bits > lw_INFINITY_BITS) | (smaller_bits == 0u)) {
        return lw_from_bits(larger_bits);
    }
    let larger = lw_unpack(larger_bits);
    let smaller = lw_unpack(smaller_bits);
    let exponent = larger.exponent + 23;
    let x = f32(larger.mantissa) * 0x1p-23;
    let y = lw_scale(f32(smaller.mantissa), max(smaller.exponent - exponent, -60));
    return lw_scale(sqrt(x * x + y * y), exponent);
}
