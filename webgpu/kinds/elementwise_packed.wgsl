// Like elementwise.wgsl, for results of one or two bytes per element. If rows of the result, along its last dimension,
// are contiguous, an invocation computes the elements of a word, and `lw.packed` is how many words a row may touch. The
// first and the last of them may belong to other rows, too, so atomics keep the rest of these. Other results are stored
// element by element, in the same way.
override lw_group: u32 = 256u;
override lw_ndim: u32 = 1u;

fn lw_places(i: u32) -> vec4<u32> {
    return lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
}

fn lw_item(i: u32) -> u32 {
    let at = lw_places(i);
    return $item;
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

// Computes the elements of a word of a row.
fn lw_compute_word(row: u32, word: u32, length: u32) {
    let start = lw_places(row * length).$component;
    let first = 4u * word - (start & 3u); // the distance from the start, which may be less than 0
    let begin = row * length;
    var items = 0u;
    var mask = 0u;
    $each_item
    let place = (start + first) >> 2u;
    if (mask == ~0u) {
        atomicStore(&out_buffer[place], items);
    } else if (mask != 0u) {
        atomicAnd(&out_buffer[place], ~mask);
        atomicOr(&out_buffer[place], items & mask);
    }
}

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if (lw.packed != 0u) {
        let length = lw.shape[(lw_ndim - 1u) >> 2u][(lw_ndim - 1u) & 3u];
        let words = lw.count / length * lw.packed;
        for (var i = id.x; i < words; i += groups.x * lw_group) {
            lw_compute_word(i / lw.packed, i % lw.packed, length);
        }
        return;
    }
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        let at = lw_places(i);
        let item = lw_item(i);
        $store;
    }
}
