// Uniform in [0, 1): the upper 24 bits of the random word times 2^-24, exactly.
fn lw_rand_float32(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> f32 {
    return f32(lw_random_word(i, seed, offset) >> 8u) * 0x1p-24;
}

fn lw_rand_float32_four(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> vec4<f32> {
    return vec4<f32>(lw_random_four(i, seed, offset) >> vec4<u32>(8u)) * 0x1p-24;
}
