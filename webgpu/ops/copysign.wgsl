template binary(float32): result = lw_copysign(x1, x2);
