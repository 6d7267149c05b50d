// For rows.wgsl.
var<workgroup> lw_totals: array<f32, lw_group>;

// As lw_combine_summaries.
fn lw_combine_totals(total: f32, invocation: u32) -> f32 {
    let member = lw_row_member(invocation);
    lw_totals[invocation] = total;
    workgroupBarrier();
    for (var half = lw_team / 2u; half >= lw_last; half /= 2u) {
        if (member < half) {
            lw_totals[invocation] += lw_totals[invocation + half * lw_pitch];
        }
        workgroupBarrier();
    }
    let first = invocation - member * lw_pitch;
    var sum = lw_totals[first];
    for (var k = 1u; k < min(lw_team, lw_last); k += 1u) {
        sum += lw_totals[first + k * lw_pitch];
    }
    return sum;
}

fn lw_terms_of_four(four: vec4<f32>, summary: $summary, i: u32) -> vec4<f32> {
    let inside = lw_inside(i);
    var terms = vec4<f32>($term_x, 0.0, 0.0, 0.0);
    if (inside.y) { terms.y = $term_y; }
    if (inside.z) { terms.z = $term_z; }
    if (inside.w) { terms.w = $term_w; }
    return terms;
}
