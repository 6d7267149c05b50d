// With e^x = 2^k (1 + d) it is 2^k d + (2^k - 1), at half its size, so that 2^k is a number. Near zero, where d is not
// right to its last digits, it is x + x^2 q(x) with q from core/math/exp.h, and still nearer x. Within 2 ulp.
fn lw_expm1_float32(x: f32) -> f32 {
    let size = lw_magnitude(x);
    if (lw_is_nan(x) || size < 2.98e-8) {
        return x;
    }
    if (size < 0.3466) {
        var q = x * 0.00138145406 + 0.00836874545;
        q = q * x + 0.041668389;
        q = q * x + 0.166665211;
        q = q * x + 0.49999994;
        return x + x * x * q;
    }
    if (x > 89.0) {
        return lw_from_bits(0x7f800000u);
    }
    let power = lw_power_of_e(max(x, -20.0));
    let half = lw_scale(1.0, power.exponent - 1);
    return lw_scale(half * power.less_one + (half - 0.5), 1);
}
