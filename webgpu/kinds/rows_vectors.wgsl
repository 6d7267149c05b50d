// For rows.wgsl: rows of contiguous elements that a workgroup holds in registers, up to 8 vectors per invocation.
override lw_row_vectors: u32 = 8u; // vectors per invocation

@compute @workgroup_size(lw_row_group)
fn vectors(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let end = lw.length / 4u;
    for (var r = group.x; r < lw.count; r += groups.x) {
        let row = lw.offsets + lw_element_offsets(r, 0u, lw.outer);
        $load
        var scale = 1.0;
        var summary = $identity;
        $summarize
        summary = lw_combine_summaries(summary, invocation);
        $rescale
        $add_up
        let numbers = $numbers;
        $store
    }
}
$total
fn lw_summarize_four(before: $summary, four: vec4<f32>, scale: f32) -> $summary {
    var summary = $combine(before, $map_x);
    summary = $combine(summary, $map_y);
    summary = $combine(summary, $map_z);
    return $combine(summary, $map_w);
}

fn lw_store_four(row: vec4<u32>, i: u32, four: vec4<f32>, numbers: $numbers_type) {
    let x = row + 4u * i * lw.strides[lw.outer];
    let y = x + lw.strides[lw.outer];
    let z = y + lw.strides[lw.outer];
    let w = z + lw.strides[lw.outer];
    out_vectors[x.$component >> 4u] = vec4<f32>($values);
}
