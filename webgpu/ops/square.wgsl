template expression(float32 int32): result = x * x;
