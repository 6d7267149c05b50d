// For rows.wgsl.
var<workgroup> lw_totals: array<f32, lw_row_group>;

// Sums the terms of a row's elements. All invocations return the same.
fn lw_add_up(row: vec4<u32>, summary: $summary, invocation: u32) -> f32 {
    var total = 0.0;
    for (var i = invocation; i < lw.length; i += lw_row_group) {
        let at = row + i * lw.strides[lw.outer];
        total += $term;
    }
    return lw_combine_totals(total, invocation, lw_row_group);
}

// Sums the totals of each `team` neighboring invocations. They return the same.
fn lw_combine_totals(total: f32, invocation: u32, team: u32) -> f32 {
    lw_totals[invocation] = total;
    workgroupBarrier();
    for (var half = team / 2u; half > 0u; half /= 2u) {
        if (invocation % team < half) {
            lw_totals[invocation] += lw_totals[invocation + half];
        }
        workgroupBarrier();
    }
    let sum = lw_totals[invocation / team * team];
    workgroupBarrier();
    return sum;
}
