fn lw_bitwise_left_shift_int32(x1: i32, x2: i32) -> i32 {
    let count = bitcast<u32>(x2);
    return select(0, x1 << (count & 31u), count < 32u);
}
