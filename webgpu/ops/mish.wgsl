// x n / (n + 2), n = e^x (e^x + 2). Beyond 20 the quotient is 1, and below -20 e^x, by which x is scaled last.
fn lw_mish_float32(x: f32) -> f32 {
    if (lw_is_nan(x) || x > 20.0) {
        return x;
    }
    if (x < -20.0) {
        return lw_times_logistic(max(x, -200.0), max(x, -200.0));
    }
    let power = lw_power_value(lw_power_of_e(x));
    let n = power * (power + 2.0);
    return x * (n / (n + 2.0));
}
