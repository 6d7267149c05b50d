// A compiler must not know that both operands are the same: x - x is not 0 for NaN and infinity.
fn lw_subtract_float32(x1: f32, x2: f32) -> f32 {
    return x1 - lw_rounded(x2);
}

fn lw_subtract_int32(x1: i32, x2: i32) -> i32 {
    return x1 - x2;
}
