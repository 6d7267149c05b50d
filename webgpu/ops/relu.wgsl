template expression(float32): result = select(x, 0.0, (lw_order(x) <= 0) & !lw_is_nan(x));
template expression(int32): result = max(x, 0);
template expression(uint32): result = x;
