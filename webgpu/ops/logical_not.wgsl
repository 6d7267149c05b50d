template expression(bool): result = !x;
template expression(int32) -> bool: result = x == 0;
template expression(float32) -> bool: result = lw_is_zero(x);
