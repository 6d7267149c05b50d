fn lw_bitwise_right_shift_int32(x1: i32, x2: i32) -> i32 {
    return x1 >> min(bitcast<u32>(x2), 31u);
}
