fn lw_isinf_float32(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

fn lw_isinf_float16(x: u32) -> bool {
    return (x & 0x7fffu) == 0x7c00u;
}

fn lw_isinf_float64(x: vec2<u32>) -> bool {
    return (x.y & 0x7fffffffu) == 0x7ff00000u && x.x == 0u;
}
