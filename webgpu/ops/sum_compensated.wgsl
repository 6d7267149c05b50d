// The sum, accumulated in double-floats (math/pair.wgsl).
template reduction(float32):
    accumulator = LwPair; identity = LwPair(lw_negative_zero(), 0.0); map = LwPair(x, 0.0);
    combine = lw_pair_add(a, b); finish = select(total.high, 0.0, count == 0u);
template reduction(int32): identity = 0; map = x; combine = a + b; finish = total;
