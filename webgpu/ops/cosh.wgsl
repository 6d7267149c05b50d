// cosh x = z/2 + 1/(2z), z = e^|x|. Computed from half = z/2, because z overflows before cosh x does. If z is large,
// 1/(2z) is too small to change the sum.
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
