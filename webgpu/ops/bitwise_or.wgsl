template binary(bool int32): result = x1 | x2;
