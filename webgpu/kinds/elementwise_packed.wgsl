// Like elementwise.wgsl, for results of one or two bytes per element: an invocation computes all $per_word elements of
// a word and stores them at once. If the result is strided or starts inside a word, elements are stored one by one,
// with atomics that keep the rest of the word. The last elements are also stored this way if they do not fill a word.
override lw_group: u32 = 256u;
override lw_ndim: u32 = 1u;

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * lw_group * $per_word;
    for (var first = id.x * $per_word; first < lw.count; first += step) {
        let whole = lw.packed != 0u && lw.count - first >= $per_word;
        let end = min(lw.count, first + $per_word);
        var word = 0u;
        for (var i = first; i < end; i += 1u) {
            let at = lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
            let item = $item;
            if (whole) {
                word |= item << ((i - first) * $item_bits);
            } else {
                $store;
            }
        }
        if (whole) {
            atomicStore(&out_buffer[(lw.offsets.$component + first * $item_bytes) >> 2u], word);
        }
    }
}
