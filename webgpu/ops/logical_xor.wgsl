fn lw_logical_xor_bool(x1: bool, x2: bool) -> bool {
    return x1 != x2;
}

fn lw_logical_xor_int32(x1: i32, x2: i32) -> bool {
    return (x1 != 0) != (x2 != 0);
}

fn lw_logical_xor_float32(x1: f32, x2: f32) -> bool {
    return lw_is_zero(x1) != lw_is_zero(x2);
}
