template reduction(float32): identity = 0.0; map = lw_magnitude(x); combine = a + b; finish = total;
