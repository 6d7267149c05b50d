// Returns word `offset` + i of the stream of Philox4x32-10 whose key is the seed. core/random.h has its source.
fn lw_random_word(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> u32 {
    let position = lw_add_wide(offset, vec2<u32>(i, 0u));
    let counter = lw_shift_right_wide(position, 2u);
    var words = vec4<u32>(counter, 0u, 0u);
    var key = seed;
    for (var round = 0u; round < 10u; round += 1u) {
        let first = lw_multiply_wide(words.x, 0xd2511f53u);
        let second = lw_multiply_wide(words.z, 0xcd9e8d57u);
        words = vec4<u32>(second.y ^ words.y ^ key.x, second.x, first.y ^ words.w ^ key.y, first.x);
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return words[position.x & 3u];
}
