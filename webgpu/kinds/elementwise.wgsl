// Computes each element of the result from one element of each input. An invocation computes the elements i, i + step,
// i + 2 step ..., so any size runs in one dispatch. A pipeline is specialized for lw_ndim, the number of dimensions.
override lw_group: u32 = 256u;
override lw_ndim: u32 = 1u;

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * lw_group;
    for (var i = id.x; i < lw.count; i += step) {
        let at = lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
        $store;
    }
}
