// Like elementwise.wgsl, for results of one or two bytes per element. If rows of the result, along its last dimension,
// are contiguous, an invocation computes four elements at once: of two words, as far apart as there are invocations, or
// of one. `lw.packed` is how many words a row may touch. The first and the last of them may belong to other rows, too,
// so atomics keep the rest of these. Other results are stored element by element, in the same way.
override lw_group: u32 = 256u;
override lw_ndim: u32 = 1u;

fn lw_places(i: u32) -> vec4<u32> {
    return lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
}

// Stores `rest` items, or as many as a word has. A word that they do not fill keeps what is behind them.
fn lw_store_word(place: u32, items: u32, rest: u32) {
    var word = items;
    if (rest < $per_word) {
        let mask = (1u << ($item_bits * rest)) - 1u;
        word = (atomicLoad(&out_buffer[place]) & ~mask) | (word & mask);
    }
    atomicStore(&out_buffer[place], word);
}

fn lw_store_words(place: u32, items: vec4<u32>, rest: u32) {
    $store_words
}

struct LwWord {
    place: u32,
    items: u32,
    mask: u32, // of the items that are in the row
}

fn lw_compute_word(i: u32, length: u32) -> LwWord {
    let row = i / lw.packed;
    let start = lw.offsets + lw_element_offsets(row, 0u, lw_ndim - 1u);
    let step = lw.strides[lw_ndim - 1u];
    // the distance from the start of the row, which may be less than 0
    let first = 4u * (i - row * lw.packed) - (start.$component & 3u);
    var items = 0u;
    var mask = 0u;
    $each_item
    return LwWord((start.$component + first) >> 2u, items, mask);
}

fn lw_merge_word(word: LwWord) {
    if (word.mask == ~0u) {
        atomicStore(&out_buffer[word.place], word.items);
    } else if (word.mask != 0u) {
        atomicAnd(&out_buffer[word.place], ~word.mask);
        atomicOr(&out_buffer[word.place], word.items & word.mask);
    }
}

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if (lw.packed != 0u) {
        let length = lw.shape[(lw_ndim - 1u) >> 2u][(lw_ndim - 1u) & 3u];
        let words = lw.count / length * lw.packed;
        let apart = groups.x * lw_group;
        for (var i = id.x; i < words; i += $words_at_once * apart) {
            $compute_words
            $merge_words
        }
        return;
    }
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        let at = lw_places(i);
        let item = lw_item(i, at);
        $store;
    }
}
