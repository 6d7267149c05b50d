// Each product is rounded before it is added.
template reduction(float32):
    arguments = x1: f32, x2: f32; identity = lw_negative_zero(); map = lw_rounded(x1 * x2);
    combine = a + b; finish = select(total, 0.0, count == 0u);
template reduction(int32):
    arguments = x1: i32, x2: i32; identity = 0; map = x1 * x2; combine = a + b; finish = total;
