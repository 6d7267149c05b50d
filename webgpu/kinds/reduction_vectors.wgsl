// For reduction.wgsl: rows whose elements are contiguous, four elements at a time. A workgroup computes 16 blocks at
// once, on 16 invocations each, of which each has 4 of the 64 partial results.
const lw_teams = 16u;
var<workgroup> lw_team_partials: array<array<$accumulator, 64>, 16>;

// Returns the result of each team's block to member 0. All invocations have to call it.
fn lw_reduce_blocks(first: u32, length: u32, team: u32, member: u32) -> $accumulator {
    var p0 = $identity;
    var p1 = p0;
    var p2 = p0;
    var p3 = p0;
    var i = 4u * member;
    $unrolled
    for (; i + 4u <= length; i += 64u) {
        $load_one
        $combine_one
    }
    if (i < length) {
        $load_one
        p0 = $combine(p0, $map_x);
        if (i + 1u < length) { p1 = $combine(p1, $map_y); }
        if (i + 2u < length) { p2 = $combine(p2, $map_z); }
    }
    for (var half = 8u; half > 0u; half /= 2u) { // partial result p meets p + 4 half
        let at = 4u * member;
        if (member >= half && member < 2u * half) {
            lw_team_partials[team][at] = p0;
            lw_team_partials[team][at + 1u] = p1;
            lw_team_partials[team][at + 2u] = p2;
            lw_team_partials[team][at + 3u] = p3;
        }
        workgroupBarrier();
        if (member < half) {
            p0 = $combine(p0, lw_team_partials[team][at + 4u * half]);
            p1 = $combine(p1, lw_team_partials[team][at + 4u * half + 1u]);
            p2 = $combine(p2, lw_team_partials[team][at + 4u * half + 2u]);
            p3 = $combine(p3, lw_team_partials[team][at + 4u * half + 3u]);
        }
    }
    return $combine($combine(p0, p2), $combine(p1, p3));
}

// Reduces rows of one block, or each block of longer rows to `scratch`.
@compute @workgroup_size(256)
fn vectors(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let team = invocation / 16u;
    let member = invocation % 16u;
    let units = lw.count * lw.blocks;
    for (var unit = group.x * lw_teams; unit < units; unit += groups.x * lw_teams) {
        let own = unit + team;
        let row = own / lw.blocks;
        let start = own % lw.blocks * lw_block;
        var length = 0u;
        if (own < units) {
            length = min(lw.length - start, lw_block);
        }
        let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
        let result = lw_reduce_blocks((at.x >> 4u) + start / 4u, length, team, member);
        if (member == 0u && own < units) {
            if (lw.blocks > 1u) {
                scratch_buffer[own] = result;
            } else {
                $store;
            }
        }
    }
}
