// Small x stay as they are, denormal ones too.
fn lw_asin_float32(x: f32) -> f32 {
    if (lw_is_nan(x) || lw_magnitude(x) > 1.0) {
        return lw_from_bits(0x7fc00000u);
    }
    if (lw_magnitude(x) < 1e-4) {
        return x;
    }
    let found = lw_arc_sin(x);
    return lw_copysign(select(found.angle, 1.5707963267948966 - 2.0 * found.angle, found.is_complement), x);
}
