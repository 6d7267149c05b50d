// An entry point of rows.wgsl: `main`, or `blocks` with loops along the row.
@compute @workgroup_size(lw_group)
fn $name(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let vectors = lw_row_vectors & 15u;
    let step = 4u * lw_team;
    let first = lw_row_member(invocation) * select(4u, 1u, lw_is_apart);
    let own = ((invocation >> (lw_pitch_shift + lw_row_team_shift)) << lw_pitch_shift) + (invocation & (lw_pitch - 1u));
    let teams = lw_group >> lw_row_team_shift;
    for (var start = group.x * teams; start < lw.count; start += groups.x * teams) {
        workgroupBarrier();
        let r = start + own;
        let row = lw.offsets + lw_element_offsets(min(r, lw.count - 1u), 0u, lw.outer);
        $variables
        var scale = 1.0;
        var summary = $identity;
        $summarize
        summary = lw_combine_summaries(summary, invocation);
        $rescale
        $add_up
        let numbers = $numbers;
        if (r < lw.count) {
            $store_row
        }
    }
}
