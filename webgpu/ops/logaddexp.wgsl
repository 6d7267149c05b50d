// ln(e^x1 + e^x2) = max(x1, x2) + log1p(e^-|x1 - x2|). If |x1 - x2| > 90 or an operand is infinite, the result is
// max(x1, x2).
fn lw_logaddexp_float32(x1: f32, x2: f32) -> f32 {
    if (lw_is_nan(x1)) {
        return x1;
    }
    if (lw_is_nan(x2)) {
        return x2;
    }
    let larger = lw_maximum_float32(x1, x2);
    let smaller = lw_minimum_float32(x1, x2);
    if (!lw_is_finite(larger) | (smaller < larger - 90.0)) {
        return larger;
    }
    return larger + lw_log1p_float32(lw_exp_value(lw_exp_parts(smaller - larger)));
}
