// gelu x = x Phi(x), Phi the cumulative distribution function of the standard normal distribution.
// 1. Phi(-z) = e^(-z^2/2) t P(t), z = |x|, t = 1 / (1 + 0.28 z), P a polynomial fitted for z in [0, 14.5]: relative
//    error 1e-8. For x >= 0, Phi(x) = 1 - Phi(-z).
// 2. e^(-z^2/2) = e^(-high^2/2) e^(-(z - high)(z + high)/2), where high is z with the low bits cleared, so that high^2
//    is exact. This matters because an absolute error of the exponent is a relative error of the result.
// 3. For x < -1, the mantissa of Phi(x) is multiplied by x before the power of two is applied, because Phi(x) may be
//    denormal, and so flushed to zero, even if x Phi(x) is not.
fn lw_gelu_float32(x: f32) -> f32 {
    if (lw_is_nan(x) || x > 10.0) {
        return x;
    }
    let z = min(lw_magnitude(x), 15.0);
    let high = bitcast<f32>(bitcast<u32>(z) & 0xfffff000u);
    let coarse = lw_exp_parts(-0.5 * high * high);
    let fine = lw_exp_parts(-0.5 * (z - high) * (z + high));
    let t = 1.0 / (1.0 + 0.28 * z);
    var p = t * -0.01268297558 + 0.09019528371;
    p = p * t - 0.238081591;
    p = p * t + 0.2706231666;
    p = p * t - 0.1412657914;
    p = p * t + 0.1374275872;
    p = p * t + 0.06403078684;
    p = p * t + 0.1067041015;
    p = p * t + 0.1113294893;
    p = p * t + 0.1117199477;
    let tail = p * t * coarse.mantissa * fine.mantissa;
    let exponent = coarse.exponent + fine.exponent;
    if (x < -1.0) {
        return lw_scale(max(x, -15.0) * tail, exponent);
    }
    let phi = lw_scale(tail, exponent);
    return x * select(1.0 - phi, phi, x < 0.0);
}

// 2 sqrt(2/pi), and 0.044715 times that.
const lw_GELU_TANH_LINEAR = 1.595769121605731;
const lw_GELU_TANH_CUBIC = 0.0713548162726;

// The tanh approximation of gelu: 0.5 x (1 + tanh(u/2)) = x / (1 + e^-u), u = 2 sqrt(2/pi) (x + 0.044715 x^3).
fn lw_gelu_tanh_float32(x: f32) -> f32 {
    if (lw_is_nan(x) || x > 10.0) {
        return x;
    }
    let bounded = max(x, -12.0);
    return lw_times_logistic(bounded, bounded * (lw_GELU_TANH_LINEAR + lw_GELU_TANH_CUBIC * bounded * bounded));
}
