// For elementwise_packed.wgsl, as elementwise_vectors.wgsl.
@compute @workgroup_size(lw_group)
fn vectors(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; 4u * i < lw.count; i += groups.x * lw_group) {
        let at = lw_places(i);
        $loads
        lw_store_words(at.$component >> 2u, vec4<u32>($values), lw.count - 4u * i);
    }
}
