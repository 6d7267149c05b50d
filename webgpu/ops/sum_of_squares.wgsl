template reduction(float32): identity = 0.0; map = x * x; combine = a + b; finish = total;
template reduction(int32): identity = 0; map = x * x; combine = a + b; finish = total;
