// sinh |x| = (e + e / (e + 1)) / 2, e = expm1 |x|. For |x| > 80, where e could overflow, sinh |x| = e^|x| / 2,
// halved by subtracting 1 from the exponent of e^|x| before lw_scale applies it.
fn lw_sinh_float32(x: f32) -> f32 {
    let size = lw_magnitude(x);
    if (lw_is_nan(x) | (size < 0.0002)) {
        return x;
    }
    if (size > 80.0) {
        let parts = lw_exp_parts(min(size, 100.0));
        return lw_copysign(lw_scale(parts.mantissa, parts.exponent - 1), x);
    }
    let e = lw_expm1_float32(size);
    return lw_copysign(0.5 * (e + e / (e + 1.0)), x);
}
