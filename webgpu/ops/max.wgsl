template reduction(float32):
    identity = lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS); map = x;
    combine = lw_maximum_float32(a, b); finish = total;
template reduction(int32): identity = lw_INT32_MIN; map = x; combine = max(a, b); finish = total;
template reduction(uint32): identity = 0u; map = x; combine = max(a, b); finish = total;
