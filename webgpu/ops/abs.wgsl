template expression(float32): result = lw_magnitude(x);
template expression(int32): result = abs(x);
template expression(uint32): result = x;
