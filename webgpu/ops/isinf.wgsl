template expression(float32) -> bool: result = lw_magnitude_bits(x) == lw_INFINITY_BITS;
template expression(float16) -> bool: result = lw_magnitude_bits_float16(x) == lw_INFINITY_BITS_FLOAT16;
template expression(float64) -> bool: result = all(lw_magnitude_bits_float64(x) == lw_INFINITY_BITS_FLOAT64);
