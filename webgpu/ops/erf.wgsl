// 2/sqrt(pi) - 1 in units of 2^-32.
const lw_TWO_OVER_SQRT_PI_MINUS_1_Q32 = 551384324u;

// 1. Denormal x: erf x = x * 2/sqrt(pi), computed on the bits of x as an integer.
// 2. |x| < 1e-30: erf x = x * 2/sqrt(pi), because an adapter that flushes denormals loses x p(x^2) below.
// 3. |x| < 1: erf x = x + x p(x^2), p a minimax polynomial: relative error 4.1e-8.
// 4. Otherwise erf |x| = 1 - e^y, y = -|x| q(|x|), with the polynomial q of core/ops/erf.h.
fn lw_erf_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let size = lw_magnitude(x);
    let bits = bitcast<u32>(size);
    if (bits <= lw_FRACTION_BITS) {
        return lw_copysign(bitcast<f32>(bits + lw_multiply_wide(bits, lw_TWO_OVER_SQRT_PI_MINUS_1_Q32).y), x);
    }
    if (size < 1e-30) {
        return x * 1.1283791670955126;
    }
    if (size < 1.0) {
        let z = x * x;
        var p = z * -0.0005619972944259644 + 0.00491491612046957;
        p = p * z - 0.026709217578172684;
        p = p * z + 0.11280113458633423;
        p = p * z - 0.37612318992614746;
        p = p * z + 0.12837912142276764;
        return x + x * p;
    }
    let bounded = min(size, 4.0);
    var q = bounded * 3.571311026462354e-05 - 0.000347752938978374;
    q = q * bounded + 0.0011687702499330044;
    q = q * bounded + 0.00030359660740941763;
    q = q * bounded - 0.019378067925572395;
    q = q * bounded + 0.10282903909683228;
    q = q * bounded + 0.6366151571273804;
    q = q * bounded + 1.128379225730896;
    return lw_copysign(1.0 - lw_exp_value(lw_exp_parts(-bounded * q)), x);
}
