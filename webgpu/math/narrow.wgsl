// Elements of reductions and rows that a narrower dtype stores, and that are converted as they are loaded: floats of 16
// bits to float32, integers of 1 and 2 bytes to int32.

override lw_narrow: u32 = (lw_sources >> 8u) & 3u;         // 1 for elements of 2 bytes, 2 for one byte; otherwise 0
override lw_is_other: bool = (lw_sources & 0x400u) != 0u;  // whether they are unsigned, or bfloat16

// The element at a byte offset, from the word that contains it.
fn lw_element_float32(word: u32, at: u32) -> f32 {
    if (lw_narrow == 0u) {
        return bitcast<f32>(word);
    }
    return lw_narrow_float32(lw_narrow_item(word, at));
}

fn lw_element_int32(word: u32, at: u32) -> i32 {
    if (lw_narrow == 0u) {
        return bitcast<i32>(word);
    }
    return lw_narrow_int32(lw_narrow_item(word, at));
}

// The four elements from a byte offset on, from the vector that contains them.
fn lw_elements_float32(words: vec4<u32>, at: u32) -> vec4<f32> {
    if (lw_narrow == 0u) {
        return bitcast<vec4<f32>>(words);
    }
    let i = lw_narrow_items(words, at);
    return vec4<f32>(lw_narrow_float32(i.x), lw_narrow_float32(i.y), lw_narrow_float32(i.z), lw_narrow_float32(i.w));
}

fn lw_elements_int32(words: vec4<u32>, at: u32) -> vec4<i32> {
    if (lw_narrow == 0u) {
        return bitcast<vec4<i32>>(words);
    }
    let i = lw_narrow_items(words, at);
    return vec4<i32>(lw_narrow_int32(i.x), lw_narrow_int32(i.y), lw_narrow_int32(i.z), lw_narrow_int32(i.w));
}

fn lw_narrow_item(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & (~0u >> (32u - (32u >> lw_narrow)));
}

fn lw_narrow_items(words: vec4<u32>, at: u32) -> vec4<u32> {
    if (lw_narrow == 1u) {
        let pair = select(words.xy, words.zw, (at & 8u) != 0u);
        return vec4<u32>(pair.x & 0xffffu, pair.x >> 16u, pair.y & 0xffffu, pair.y >> 16u);
    }
    return (vec4<u32>(words[(at >> 2u) & 3u]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}

fn lw_narrow_float32(item: u32) -> f32 {
    return lw_float32_of_half(item, select(10u, 7u, lw_is_other));
}

fn lw_narrow_int32(item: u32) -> i32 {
    let empty = 32u - (32u >> lw_narrow);
    return select(bitcast<i32>(item << empty) >> empty, bitcast<i32>(item), lw_is_other);
}
