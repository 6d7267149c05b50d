// (z + 1/z) / 2, z = e^|x|, computed from z/2. For large z, 1/z is lost in rounding.
fn lw_cosh_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let parts = lw_exp_parts(min(lw_magnitude(x), 100.0));
    let half = lw_scale(parts.mantissa, parts.exponent - 1);
    if (parts.exponent > 100) {
        return half;
    }
    return half + 0.25 / half;
}
