template expression(int32 float32) -> uint32: result = lw_sort_$dtype(x);
template expression(uint32): result = x;
