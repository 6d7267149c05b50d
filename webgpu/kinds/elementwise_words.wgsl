// For elementwise_packed.wgsl: contiguous operands, four elements at a time. The last word of the result keeps what is
// behind its end.
@compute @workgroup_size(lw_group)
fn vectors(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; 4u * i < lw.count; i += groups.x * lw_group) {
        $loads
        let items = vec4<u32>($values) << vec4<u32>(0u, 8u, 16u, 24u);
        var word = items.x | items.y | items.z | items.w;
        let place = (lw.offsets.$component >> 2u) + i;
        let rest = lw.count - 4u * i;
        if (rest < 4u) {
            let mask = (1u << (8u * rest)) - 1u;
            word = (atomicLoad(&out_buffer[place]) & ~mask) | (word & mask);
        }
        atomicStore(&out_buffer[place], word);
    }
}
