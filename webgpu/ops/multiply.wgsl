template binary(float32 int32): result = x1 * x2;
