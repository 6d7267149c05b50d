// Computes each element of the result from one element of each input. An invocation computes four elements at once, so
// that it waits for all of their loads together, and then the next four, so any size runs in one dispatch. The four are
// at one place in each quarter of dimension `lw.outer`: their offsets differ by a constant, and take one division for
// each dimension. Neighbors have neighboring elements. `lw.length` is the extent of that dimension, `lw.shape` has a
// quarter of it, and `lw.count` counts the elements of a quarter. A pipeline is specialized for lw_ndim, the number of
// dimensions.
override lw_group: u32 = 256u;
override lw_ndim: u32 = 1u;

fn lw_places(i: u32) -> vec4<u32> {
    return lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
}

fn lw_store_item(at: vec4<u32>, item: $element) {
    $store;
}

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let quarter = lw.shape[lw.outer >> 2u][lw.outer & 3u];
    let apart = quarter * lw.strides[lw.outer];
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        let place = lw_place_in_quarter(i, lw_ndim);
        $places
        $items
        $stores
    }
}
