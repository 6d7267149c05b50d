template binary(bool): result = x1 & x2;
template binary(int32) -> bool: result = (x1 != 0) & (x2 != 0);
template binary(float32) -> bool: result = !lw_is_zero(x1) & !lw_is_zero(x2);
