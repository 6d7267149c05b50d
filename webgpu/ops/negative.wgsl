fn lw_negative_float32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ lw_SIGN_BIT);
}

fn lw_negative_int32(x: i32) -> i32 {
    return -x;
}
