template expression(float32) -> bool: result = lw_magnitude_bits(x) == lw_INFINITY_BITS;
template expression(float64) -> bool: result = all(lw_magnitude_bits_float64(x) == lw_INFINITY_BITS_FLOAT64);
