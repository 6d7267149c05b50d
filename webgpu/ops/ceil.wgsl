// ceil x = -floor(-x).
template expression(float32): result = lw_negative_float32(lw_floor_float32(lw_negative_float32(x)));
template expression(int32): result = x;
