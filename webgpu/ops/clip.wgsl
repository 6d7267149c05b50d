// If low > high, the result is `high`. If any operand is NaN, the result is NaN.
template expression(float32):
    arguments = x: f32, low: f32, high: f32; result = lw_minimum_float32(lw_maximum_float32(x, low), high);
template expression(int32 uint32):
    arguments = x: $value, low: $value, high: $value; result = min(max(x, low), high);
