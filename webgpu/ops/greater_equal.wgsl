template binary(bool int32 int64 uint32 float32 float64) -> bool:
    result = lw_is_less_$dtype(x2, x1) | lw_is_equal_$dtype(x1, x2);
