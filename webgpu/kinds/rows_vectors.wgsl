// For rows.wgsl: rows of contiguous elements that invocations hold in registers, up to 8 vectors each. A team of 256
// invocations, or of 64 if rows are short, computes a row.
override lw_row_vectors: u32 = 8u; // vectors per invocation; plus 16 for teams of 64

@compute @workgroup_size(lw_row_group)
fn vectors(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let end = lw.length / 4u;
    let vectors = lw_row_vectors & 15u;
    let team = select(lw_row_group, 64u, lw_row_vectors > 15u);
    let teams = lw_row_group / team;
    let first = invocation / team * team;
    let member = invocation - first;
    for (var start = group.x * teams; start < lw.count; start += groups.x * teams) {
        let r = start + invocation / team;
        let row = lw.offsets + lw_element_offsets(min(r, lw.count - 1u), 0u, lw.outer);
        $load
        var scale = 1.0;
        var summary = $identity;
        $summarize
        lw_combine_summaries(summary, invocation, team);
        summary = lw_summaries[first];
        $rescale
        $add_up
        let numbers = $numbers;
        if (r < lw.count) {
            $store
        }
        workgroupBarrier();
    }
}
$total
fn lw_summarize_four(before: $summary, four: vec4<f32>) -> $summary {
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
