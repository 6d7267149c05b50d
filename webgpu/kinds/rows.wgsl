// Transforms each row of `length` elements. A team of invocations reduces a row to a summary, sums terms that depend on
// it if the operation has them (rows_total.wgsl), and computes the result from the row and from numbers that are
// constant along it. A workgroup has as many teams as fit. The members of a team are `lw_pitch` invocations apart: 1 if
// the elements of a row are adjacent in memory. If those of neighboring rows are, neighboring invocations have
// neighboring rows.
//
// Invocations hold rows in registers, up to 8 vectors each. The elements of a vector are adjacent in memory and read at
// once, or one by one and as many elements apart as the team has members. Then the last vectors may have fewer. Rows
// that are too long for `main` are read block by block by `blocks`, again for each of the three steps. If there are few
// of them, rows are divided into `lw.blocks` parts of `lw.team` elements, and each step is a dispatch, the stage
// `lw.teams`: 1 writes the summaries of parts to `scratch`, 2 the scaled ones or the sums of terms, and 3 the result.
const lw_group = 256u;
const lw_last = 4u;
// The vectors of a row that an invocation has; in bit 4, whether their elements are read one by one; from bit 5 on, the
// binary logarithms of the size of a team and of the pitch. So compilers know all of these.
override lw_row_vectors: u32 = 8u;
override lw_is_apart: bool = (lw_row_vectors & 16u) != 0u;
override lw_row_team_shift: u32 = (lw_row_vectors >> 5u) & 15u;
override lw_pitch_shift: u32 = lw_row_vectors >> 9u;
override lw_team: u32 = 1u << lw_row_team_shift;
override lw_pitch: u32 = 1u << lw_pitch_shift;
var<workgroup> lw_summaries: array<$summary, lw_group>;

fn lw_row_member(invocation: u32) -> u32 {
    return (invocation >> lw_pitch_shift) & (lw_team - 1u);
}

// All members of a team return the same: each combines the last few summaries itself, which saves barriers. Before the
// next call, there has to be a barrier.
fn lw_combine_summaries(summary: $summary, invocation: u32) -> $summary {
    let member = lw_row_member(invocation);
    lw_summaries[invocation] = summary;
    workgroupBarrier();
    for (var half = lw_team / 2u; half >= lw_last; half /= 2u) {
        if (member < half) {
            let other = lw_summaries[invocation + half * lw_pitch];
            lw_summaries[invocation] = $combine(lw_summaries[invocation], other);
        }
        workgroupBarrier();
    }
    let first = invocation - member * lw_pitch;
    var result = lw_summaries[first];
    for (var k = 1u; k < min(lw_team, lw_last); k += 1u) {
        result = $combine(result, lw_summaries[first + k * lw_pitch]);
    }
    return result;
}

// Returns which elements of the vector that begins with element i are in the row.
fn lw_inside(i: u32) -> vec4<bool> {
    if (!lw_is_apart) {
        return vec4<bool>(true);
    }
    return vec4<u32>(i) + vec4<u32>(0u, 1u, 2u, 3u) * lw_team < vec4<u32>(lw.length);
}

fn lw_load_four(row: vec4<u32>, i: u32) -> vec4<f32> {
    let last = lw.length - 1u;
    let stride = lw.strides[lw.outer].x;
    if (!lw_is_apart) {
        let at = row.x + (min(i, last) & ~3u) * stride;
        if ((lw_sources & 3u) == 2u) { return $out_four; }
        return $own_four;
    }
    return vec4<f32>($elements);
}

fn lw_summarize_four(before: $summary, four: vec4<f32>, i: u32) -> $summary {
    let inside = lw_inside(i);
    var summary = $combine(before, $map_x);
    if (inside.y) { summary = $combine(summary, $map_y); }
    if (inside.z) { summary = $combine(summary, $map_z); }
    if (inside.w) { summary = $combine(summary, $map_w); }
    return summary;
}

fn lw_store_four(row: vec4<u32>, i: u32, four: vec4<f32>, numbers: $numbers_type) {
    let apart = select(1u, lw_team, lw_is_apart) * lw.strides[lw.outer];
    let x = row + i * lw.strides[lw.outer];
    let y = x + apart;
    let z = y + apart;
    let w = z + apart;
    let inside = lw_inside(i);
    var values = vec4<f32>($value_x, 0.0, 0.0, 0.0);
    if (inside.y) { values.y = $value_y; }
    if (inside.z) { values.z = $value_z; }
    if (inside.w) { values.w = $value_w; }
    if (!lw_is_apart) {
        out_buffer[x.$component >> 4u] = values;
        return;
    }
    lw_store_one(x.$component, values.x);
    if (inside.y) { lw_store_one(y.$component, values.y); }
    if (inside.z) { lw_store_one(z.$component, values.z); }
    if (inside.w) { lw_store_one(w.$component, values.w); }
}

fn lw_store_one(at: u32, value: f32) {
    out_buffer[at >> 4u][(at >> 2u) & 3u] = value;
}
$total
