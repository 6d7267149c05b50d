// atanh |x| = log1p(2 |x| / (1 - |x|)) / 2. The result is infinite at -1 and 1, NaN for |x| > 1, and x itself near
// zero.
fn lw_atanh_float32(x: f32) -> f32 {
    let size = lw_magnitude(x);
    let bits = bitcast<u32>(size);
    if ((bits > lw_INFINITY_BITS) | (size < 2.98e-8)) {
        return x;
    }
    if (bits >= lw_ONE_BITS) {
        return lw_copysign(lw_from_bits(select(lw_NAN_BITS, lw_INFINITY_BITS, bits == lw_ONE_BITS)), x);
    }
    return lw_copysign(0.5 * lw_log_natural(lw_log1p_parts((size + size) / (1.0 - size))), x);
}
