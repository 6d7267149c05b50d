fn lw_logical_not_bool(x: bool) -> bool {
    return !x;
}

fn lw_logical_not_int32(x: i32) -> bool {
    return x == 0;
}

fn lw_logical_not_float32(x: f32) -> bool {
    return lw_is_zero(x);
}
