fn lw_less_equal_bool(x1: bool, x2: bool) -> bool {
    return lw_is_less_bool(x1, x2) | lw_is_equal_bool(x1, x2);
}

fn lw_less_equal_int32(x1: i32, x2: i32) -> bool {
    return lw_is_less_int32(x1, x2) | lw_is_equal_int32(x1, x2);
}

fn lw_less_equal_int64(x1: vec2<u32>, x2: vec2<u32>) -> bool {
    return lw_is_less_int64(x1, x2) | lw_is_equal_int64(x1, x2);
}

fn lw_less_equal_float16(x1: u32, x2: u32) -> bool {
    return lw_is_less_float16(x1, x2) | lw_is_equal_float16(x1, x2);
}

fn lw_less_equal_float32(x1: f32, x2: f32) -> bool {
    return lw_is_less_float32(x1, x2) | lw_is_equal_float32(x1, x2);
}

fn lw_less_equal_float64(x1: vec2<u32>, x2: vec2<u32>) -> bool {
    return lw_is_less_float64(x1, x2) | lw_is_equal_float64(x1, x2);
}
