// Error < 2 ulp.
// 1. |x| < 0.625: tanh x = x + x^3 P(x^2), P the polynomial of tanhf in Cephes. Near zero the result is x itself.
// 2. Otherwise tanh |x| = 1 - 2 / (e^(2|x|) + 1).
fn lw_tanh_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let magnitude = min(lw_magnitude(x), 10.0);
    if (magnitude < 0.625) {
        let square = x * x;
        var p = square * -5.70498872745e-3 + 2.06390887954e-2;
        p = p * square - 5.37397155531e-2;
        p = p * square + 1.33314422036e-1;
        p = p * square - 3.33332819422e-1;
        return select(x, p * square * x + x, magnitude > 1e-5);
    }
    let z = lw_exp_value(lw_exp_parts(2.0 * magnitude));
    return lw_copysign(1.0 - 2.0 / (z + 1.0), x);
}
