// Error < 2 ulp.
// 1. |x| < 2^-25: e^x - 1 rounds to x.
// 2. |x| < ln2, where 2^k d + (2^k - 1) would cancel: e^x - 1 = x + x^2 q(x), q a minimax polynomial of degree 6 on
//    [-ln2, ln2]: relative error of the sum 4e-9.
// 3. Otherwise e^x - 1 = 2^k d + (2^k - 1), where e^x = 2^k (1 + d). Half of this sum is computed and then doubled,
//    because 2^k overflows before e^x - 1 does. x is clamped because lw_exp_parts takes |x| < 128: from x = -20 down,
//    2^k is at most 2^-29 and the sum rounds to -1, so any bound between -128 and -20 would do.
fn lw_expm1_float32(x: f32) -> f32 {
    let size = lw_magnitude(x);
    if (lw_is_nan(x) | (size < 2.98e-8)) {
        return x;
    }
    if (size < 0.6932) {
        var q = x * 2.50678659e-5 + 0.000200743787;
        q = q * x + 0.00138880871;
        q = q * x + 0.00833277218;
        q = q * x + 0.0416666754;
        q = q * x + 0.166666701;
        return x + x * x * (q * x + 0.5);
    }
    if (x > 89.0) {
        return lw_infinity();
    }
    let parts = lw_exp_parts(max(x, -20.0));
    let half = lw_scale(1.0, parts.exponent - 1);
    return lw_scale(half * parts.expm1 + (half - 0.5), 1);
}
