// Computes each element of the result from one element of each input. An invocation computes four elements at once, so
// that it waits for all of their loads together, and then the next four, so any size runs in one dispatch. Its elements
// are as far apart as there are invocations: neighbors have neighboring elements. A pipeline is specialized for
// lw_ndim, the number of dimensions.
override lw_group: u32 = 256u;
override lw_ndim: u32 = 1u;

fn lw_places(i: u32) -> vec4<u32> {
    return lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
}

fn lw_item(i: u32, at: vec4<u32>) -> $element {
    return $item;
}

fn lw_store_item(at: vec4<u32>, item: $element) {
    $store;
}

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * lw_group;
    let last = lw.count - 1u;
    for (var i = id.x; i < lw.count; i += 4u * step) {
        $places
        $items
        $stores
    }
}
