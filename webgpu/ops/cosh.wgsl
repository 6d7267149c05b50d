fn lw_cosh_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let power = lw_power_of_e(min(lw_magnitude(x), 100.0));
    let half = lw_scale(power.mantissa, power.exponent - 1);
    if (power.exponent > 100) {
        return half;
    }
    return half + 0.25 / half;
}
