// Error < 1.5 ulp, denormal results included. See lw_exp_parts for the method.
fn lw_exp_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    return lw_exp_value(lw_exp_parts(clamp(x, -120.0, 120.0)));
}
