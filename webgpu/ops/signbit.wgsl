fn lw_signbit_float32(x: f32) -> bool {
    return bitcast<i32>(x) < 0;
}
