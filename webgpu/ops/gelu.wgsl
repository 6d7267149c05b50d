// gelu x = max(x, 0) - |x| Phi(-|x|), Phi the cumulative distribution function of the standard normal distribution: the
// polynomials of core/ops/gelu.h, whose second term is zero from the cutoff on. Without fma, the absolute error is at
// most 4e-7.
const lw_GELU_CUTOFF = 0x1.6b851ep+2f;
const lw_GELU_TANH_CUTOFF = 0x1.89999ap+2f;

fn lw_gelu_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let n = -min(lw_magnitude(x), lw_GELU_CUTOFF);
    var p = n * -0x1.b257ecp-19f + 0x1.c4e1a4p-16f;
    p = p * n - 0x1.9c3ba6p-14f;
    p = p * n + 0x1.49f242p-13f;
    var y = (n + 0x1.2e40ap+3f) * n + 0x1.14a9dcp+5f;
    y = (y + (n - 0x1.084066p+3f)) * y + 0x1.e95936p+4f;
    p = (lw_GELU_CUTOFF + n) * p * y;
    p *= p;
    return lw_at_least_negative_zero(x) + n * p * p;
}

// The tanh approximation of gelu, x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2.
fn lw_gelu_tanh_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let size = min(lw_magnitude(x), lw_GELU_TANH_CUTOFF);
    var p = size * -0x1.43e896p-21f + 0x1.3c4bf2p-17f;
    p = p * size - 0x1.ad3e04p-15f;
    p = p * size + 0x1.d29a6cp-14f;
    p = p * size + 0x1.8e43b2p-15f;
    p = p * size - 0x1.4d1048p-11f;
    p = p * size - 0x1.e343e2p-9f;
    p = p * size + 0x1.33439cp-7f;
    p = p * size + 0x1.315e94p-3f;
    p *= lw_GELU_TANH_CUTOFF - size;
    p *= p;
    p *= p;
    return lw_at_least_negative_zero(x) - size * (p * p);
}

// x, or -0 if its sign is negative.
fn lw_at_least_negative_zero(x: f32) -> f32 {
    return select(x, lw_negative_zero(), lw_is_negative(x));
}
