template expression(float32): result = lw_divide_float32(1.0, lw_sqrt_float32(x));
