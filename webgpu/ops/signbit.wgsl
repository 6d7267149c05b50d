template expression(float32) -> bool: result = lw_is_negative(x);
