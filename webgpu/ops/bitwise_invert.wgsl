fn lw_bitwise_invert_bool(x: bool) -> bool {
    return !x;
}

fn lw_bitwise_invert_int32(x: i32) -> i32 {
    return ~x;
}
