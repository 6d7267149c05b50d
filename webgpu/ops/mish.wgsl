// x n / (n + 2), n = e^x (e^x + 2). For x > 20 the quotient is 1. For x < -20 it is e^x, and x is multiplied by it
// last.
fn lw_mish_float32(x: f32) -> f32 {
    if (lw_is_nan(x) || x > 20.0) {
        return x;
    }
    if (x < -20.0) {
        return lw_times_logistic(max(x, -200.0), max(x, -200.0));
    }
    let z = lw_exp_value(lw_exp_parts(x));
    let n = z * (z + 2.0);
    return x * (n / (n + 2.0));
}
