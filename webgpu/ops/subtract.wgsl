// A compiler must not know that both operands are the same: x - x is not 0 for NaN and infinity.
template binary(float32): result = x1 - lw_rounded(x2);
template binary(int32): result = x1 - x2;
