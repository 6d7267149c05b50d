template expression(float32) -> bool: result = lw_is_finite(x);
template expression(float64) -> bool:
    result = lw_is_less_unsigned_wide(lw_magnitude_bits_float64(x), lw_INFINITY_BITS_FLOAT64);
