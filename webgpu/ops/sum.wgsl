// The identity of float addition is -0, not 0: x + -0 is x for every x, but x + 0 turns an x of -0 into 0.
template reduction(float32):
    identity = lw_negative_zero(); map = x; combine = a + b; finish = select(total, 0.0, count == 0u);
template reduction(int32): identity = 0; map = x; combine = a + b; finish = total;
