template expression(float32) -> bool: result = lw_is_nan(x);
template expression(float64) -> bool: result = lw_is_nan_$dtype(x);
