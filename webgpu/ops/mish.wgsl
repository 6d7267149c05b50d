// mish x = x n / (n + 2), n = e^x (e^x + 2). To float32 accuracy, n / (n + 2) equals 1 for x > 20, and e^x for x < -20,
// where lw_times_logistic computes x e^x. Both formulas agree to float32 accuracy for -85 < x < -16, so any bound in
// this range would do; further down, e^x may be denormal and flushed to zero.
fn lw_mish_float32(x: f32) -> f32 {
    if (lw_is_nan(x) | (x > 20.0)) {
        return x;
    }
    if (x < -20.0) {
        return lw_times_logistic(max(x, -200.0), max(x, -200.0));
    }
    let z = lw_exp_value(lw_exp_parts(x));
    let n = z * (z + 2.0);
    return x * (n / (n + 2.0));
}
