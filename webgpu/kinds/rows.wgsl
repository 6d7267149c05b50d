// Transforms each row of `length` elements. A workgroup reduces a row to a summary, sums terms that depend on it if the
// operation has them (rows_total.wgsl), and computes the result from the row and from numbers that are constant along
// it.
const lw_row_group = 256u;
var<workgroup> lw_summaries: array<$summary, lw_row_group>;

// Reduces a row whose elements are multiplied by `scale`. All invocations return the same.
fn lw_summarize(row: vec4<u32>, scale: f32, invocation: u32) -> $summary {
    var summary = $identity;
    for (var i = invocation; i < lw.length; i += lw_row_group) {
        let at = row + i * lw.strides[lw.outer];
        summary = $combine(summary, $map);
    }
    lw_combine_summaries(summary, invocation, lw_row_group);
    return workgroupUniformLoad(&lw_summaries[0]);
}

// Combines the summaries of each `team` neighboring invocations; the first of them has the result in lw_summaries.
fn lw_combine_summaries(summary: $summary, invocation: u32, team: u32) {
    lw_summaries[invocation] = summary;
    workgroupBarrier();
    for (var half = team / 2u; half > 0u; half /= 2u) {
        if (invocation % team < half) {
            lw_summaries[invocation] = $combine(lw_summaries[invocation], lw_summaries[invocation + half]);
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(lw_row_group)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    for (var r = group.x; r < lw.count; r += groups.x) {
        let row = lw.offsets + lw_element_offsets(r, 0u, lw.outer);
        var scale = 1.0;
        var summary = lw_summarize(row, scale, invocation);
        $rescale
        let numbers = $numbers;
        for (var i = invocation; i < lw.length; i += lw_row_group) {
            let at = row + i * lw.strides[lw.outer];
            let value = $value;
            $store;
        }
    }
}
