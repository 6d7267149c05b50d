template reduction(float32): identity = lw_infinity(); map = x; combine = lw_minimum_float32(a, b); finish = total;
template reduction(int32): identity = lw_INT32_MAX; map = x; combine = min(a, b); finish = total;
template reduction(uint32): identity = ~0u; map = x; combine = min(a, b); finish = total;
