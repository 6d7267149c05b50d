// Of e = e^|x| - 1: (e + e / (e + 1)) / 2. Where that overflows, e^|x| / 2 by its exponent.
fn lw_sinh_float32(x: f32) -> f32 {
    let size = lw_magnitude(x);
    if (lw_is_nan(x) || size < 0.0002) {
        return x;
    }
    if (size > 80.0) {
        let power = lw_power_of_e(min(size, 100.0));
        return lw_copysign(lw_scale(power.mantissa, power.exponent - 1), x);
    }
    let e = lw_expm1_float32(size);
    return lw_copysign(0.5 * (e + e / (e + 1.0)), x);
}
