// Uniform in [0, 1): the upper 24 bits of the random word times 2^-24, exactly.
fn lw_rand_float32(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> f32 {
    return f32(lw_random_word(i, seed, offset) >> 8u) * 0x1p-24;
}
