// 1e-5: tanh x rounds to x for smaller |x|.
const lw_TANH_LINEAR_BITS = 0x3727c5acu;

// Error < 2 ulp.
// 1. |x| < 0.625: tanh x = x + x^3 P(x^2), P the polynomial of tanhf in Cephes.
// 2. Otherwise tanh |x| = 1 - 2 / (e^(2|x|) + 1).
fn lw_tanh_float32(x: f32) -> f32 {
    let bits = lw_magnitude_bits(x);
    let magnitude = bitcast<f32>(bits);
    let square = x * x;
    var p = square * -5.70498872745e-3 + 2.06390887954e-2;
    p = p * square - 5.37397155531e-2;
    p = p * square + 1.33314422036e-1;
    p = p * square - 3.33332819422e-1;
    let large = 1.0 - 2.0 / (lw_exp_normal(lw_exp_parts(2.0 * min(magnitude, 10.0))) + 1.0);
    let result = select(lw_copysign(large, x), p * square * x + x, magnitude < 0.625);
    let is_itself = bits - lw_TANH_LINEAR_BITS > lw_INFINITY_BITS - lw_TANH_LINEAR_BITS; // or NaN
    return select(result, x, is_itself);
}
