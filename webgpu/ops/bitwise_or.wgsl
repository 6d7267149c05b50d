fn lw_bitwise_or_bool(x1: bool, x2: bool) -> bool {
    return x1 | x2;
}

fn lw_bitwise_or_int32(x1: i32, x2: i32) -> i32 {
    return x1 | x2;
}
