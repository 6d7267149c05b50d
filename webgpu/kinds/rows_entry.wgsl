// An entry point of rows.wgsl: `main`, or `blocks` with loops along the row.
@compute @workgroup_size(lw_group)
fn $name(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let vectors = lw_row_vectors & 15u;
    let step = 4u * lw_team;
    let member = lw_row_member(invocation);
    let own = ((invocation >> (lw_pitch_shift + lw_row_team_shift)) << lw_pitch_shift) + (invocation & (lw_pitch - 1u));
    let teams = lw_group >> lw_row_team_shift;
    let units = lw.count * lw.blocks;
    for (var start = group.x * teams; start < units; start += groups.x * teams) {
        workgroupBarrier();
        let unit = start + own;
        let r = min($row, lw.count - 1u);
        let row = lw.offsets + lw_element_offsets(r, 0u, lw.outer);
        $part
        let first = begin + member * select(4u, 1u, lw_is_apart);
        $variables
        var scale = 1.0;
        var summary = $identity;
        $summarize
        summary = lw_combine_summaries(summary, invocation);
        $keep_summary
        $rescale
        $add_up
        let numbers = $numbers;
        if (unit < units) {
            $store_row
        }
    }
}
