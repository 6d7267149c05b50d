fn lw_swiglu_float32(gate: f32, up: f32) -> f32 {
    return lw_silu_float32(gate) * up;
}
