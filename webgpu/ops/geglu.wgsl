fn lw_geglu_float32(gate: f32, up: f32) -> f32 {
    return lw_gelu_float32(gate) * up;
}

fn lw_geglu_tanh_float32(gate: f32, up: f32) -> f32 {
    return lw_gelu_tanh_float32(gate) * up;
}
