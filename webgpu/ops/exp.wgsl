// Within 1.5 ulp, denormal results included (lw_power_of_e says how).
fn lw_exp_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    return lw_power_value(lw_power_of_e(clamp(x, -120.0, 120.0)));
}
