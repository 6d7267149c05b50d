fn lw_copysign_float32(x1: f32, x2: f32) -> f32 {
    return lw_copysign(x1, x2);
}
