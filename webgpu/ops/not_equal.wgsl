template binary(bool int32 int64 float32 float64) -> bool:
    result = !lw_is_equal_$dtype(x1, x2);
