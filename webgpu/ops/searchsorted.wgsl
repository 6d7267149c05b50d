// Returns whether an element of the row is before a value.
template expression(int32 uint32) -> bool:
    arguments = element: $value, value: $value, is_after_equal: bool;
    result = (element < value) | (is_after_equal & (element == value));

// NaN is the largest element, and -0 equals 0.
fn lw_searchsorted_float32(element: f32, value: f32, is_after_equal: bool) -> bool {
    return lw_searchsorted_int32(lw_searchsorted_key(element), lw_searchsorted_key(value), is_after_equal);
}

fn lw_searchsorted_key(x: f32) -> i32 {
    return select(lw_order(x), lw_INT32_MAX, lw_is_nan(x));
}
