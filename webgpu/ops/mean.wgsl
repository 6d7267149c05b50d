// The sum divided by the count, with a correctly rounded division. The mean of no elements is 0/0, which is NaN.
template reduction(float32):
    identity = lw_negative_zero(); map = x; combine = a + b;
    finish = lw_divide_float32(select(total, 0.0, count == 0u), f32(count));
