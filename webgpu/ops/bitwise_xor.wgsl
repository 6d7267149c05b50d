template binary(bool): result = x1 != x2;
template binary(int32): result = x1 ^ x2;
