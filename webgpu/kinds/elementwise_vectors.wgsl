// For elementwise.wgsl: operands that are contiguous along the last dimension, or repeat an element, four elements at a
// time. The launcher counts vectors along this dimension. The last vector of the result keeps what is behind its end.
@compute @workgroup_size(lw_group)
fn vectors(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; 4u * i < lw.count; i += groups.x * lw_group) {
        let at = lw_places(i);
        $loads
        var value = vec4<$element>($values);
        let place = at.$component >> 4u;
        let rest = lw.count - 4u * i;
        if (rest < 4u) {
            value = select(out_vectors[place], value, vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(rest));
        }
        out_vectors[place] = value;
    }
}
