// NaN is the largest, and -0 equals 0.
fn lw_sort_float32(x: f32) -> u32 {
    return lw_sort_int32(select(lw_order(x), lw_INT32_MAX, lw_is_nan(x)));
}

template expression(bool) -> uint32: result = u32(x);
template expression(uint32): result = x;
template expression(int32) -> uint32: result = bitcast<u32>(x) ^ lw_SIGN_BIT;
