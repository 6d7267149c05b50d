// Floats are reduced as integers that compare alike; that of NaN is the smallest.
template reduction(float32):
    accumulator = i32; identity = lw_INT32_MAX; map = select(lw_total_order(x), lw_INT32_MIN, lw_is_nan(x));
    combine = min(a, b); finish = lw_of_total_order(total);
template reduction(int32): identity = lw_INT32_MAX; map = x; combine = min(a, b); finish = total;
template reduction(uint32): identity = ~0u; map = x; combine = min(a, b); finish = total;
