// Within 1.5 ulp, denormal results included. x - k is exact.
fn lw_exp2_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let near = clamp(x, -152.0, 130.0);
    let k = floor(near + 0.5);
    return lw_power_value(lw_power_of_two(near - k, i32(k)));
}
