fn lw_lerp_float32(x1: f32, x2: f32, weight: f32) -> f32 {
    let way = x2 - x1;
    if (weight < 0.5) {
        return x1 + weight * way;
    }
    return x2 - (1.0 - weight) * way;
}
