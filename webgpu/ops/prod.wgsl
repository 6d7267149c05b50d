template reduction(float32): identity = 1.0; map = x; combine = a * b; finish = total;
template reduction(int32): identity = 1; map = x; combine = a * b; finish = total;
