template comparison(bool int32 int64 float16 float32 float64):
    test = lw_is_less_$dtype(x2, x1) | lw_is_equal_$dtype(x1, x2);
