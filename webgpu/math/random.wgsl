// The stream of Philox4x32-10 whose key is the seed. core/random.h has its source. Returns words 4 n to 4 n + 3 for the
// counter n. The rounds are written out, because some compilers do not unroll loops.
fn lw_random_words(counter: vec2<u32>, seed: vec2<u32>) -> vec4<u32> {
    var words = lw_random_round(vec4<u32>(counter, 0u, 0u), seed, 0u);
    words = lw_random_round(words, seed, 1u);
    words = lw_random_round(words, seed, 2u);
    words = lw_random_round(words, seed, 3u);
    words = lw_random_round(words, seed, 4u);
    words = lw_random_round(words, seed, 5u);
    words = lw_random_round(words, seed, 6u);
    words = lw_random_round(words, seed, 7u);
    words = lw_random_round(words, seed, 8u);
    return lw_random_round(words, seed, 9u);
}

fn lw_random_round(words: vec4<u32>, seed: vec2<u32>, round: u32) -> vec4<u32> {
    let first = lw_multiply_wide(words.x, 0xd2511f53u);
    let second = lw_multiply_wide(words.z, 0xcd9e8d57u);
    let key = seed + round * vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    return vec4<u32>(second.y ^ words.y ^ key.x, second.x, first.y ^ words.w ^ key.y, first.x);
}

// Returns word `offset` + i of the stream.
fn lw_random_word(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> u32 {
    let position = lw_add_wide(offset, vec2<u32>(i, 0u));
    return lw_random_words(lw_shift_right_wide(position, 2u), seed)[position.x & 3u];
}

// Returns words `offset` + 4 i to `offset` + 4 i + 3, those of one counter if the offset is a multiple of 4, else of
// two.
fn lw_random_four(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> vec4<u32> {
    let counter = lw_add_wide(lw_shift_right_wide(offset, 2u), vec2<u32>(i, 0u));
    let skipped = offset.x & 3u;
    var words = lw_random_words(counter, seed);
    if (skipped > 0u) {
        let next = lw_random_words(lw_add_wide(counter, vec2<u32>(1u, 0u)), seed);
        words = select(vec4<u32>(words.w, next.xyz), select(vec4<u32>(words.zw, next.xy), vec4<u32>(words.yzw, next.x),
                                                            skipped == 1u), skipped < 3u);
    }
    return words;
}
