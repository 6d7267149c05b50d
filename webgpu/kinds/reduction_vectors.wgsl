// For reduction.wgsl: rows whose elements are contiguous, four elements at a time. 16 invocations, a team, reduce a
// block; each has 4 of the 64 partial results. A workgroup has 16 teams. Neighboring ones, up to `lw.teams`, reduce
// neighboring blocks of a row, whose results the workgroup combines.
const lw_teams = 16u;
var<workgroup> lw_team_partials: array<array<$accumulator, 256>, 4>;

// Returns the result of a team's block to its first member: of `length` elements of the row from element `start` on,
// the first of which are vector `first`. All invocations have to call it.
fn $reduce_team(first: u32, start: u32, length: u32, ${scale}invocation: u32) -> $accumulator {
    let member = invocation % 16u;
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
        p0 = lw_join(p0, $map_x);
        if (i + 1u < length) { p1 = lw_join(p1, $map_y); }
        if (i + 2u < length) { p2 = lw_join(p2, $map_z); }
    }
    for (var half = 8u; half > 0u; half /= 2u) {
        if (member < 2u * half) {
            lw_team_partials[0][invocation] = p0;
            lw_team_partials[1][invocation] = p1;
            lw_team_partials[2][invocation] = p2;
            lw_team_partials[3][invocation] = p3;
        }
        workgroupBarrier();
        if (member < half) {
            p0 = lw_join(p0, lw_team_partials[0][invocation + half]);
            p1 = lw_join(p1, lw_team_partials[1][invocation + half]);
            p2 = lw_join(p2, lw_team_partials[2][invocation + half]);
            p3 = lw_join(p3, lw_team_partials[3][invocation + half]);
        }
    }
    return lw_join(lw_join(p0, p2), lw_join(p1, p3));
}

// Stores the results of rows of up to `lw.teams` blocks. Of longer rows, `scratch` receives a result for that many
// blocks each.
@compute @workgroup_size(256)
fn vectors(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let results = (lw.blocks + lw.teams - 1u) / lw.teams;
    let units = lw.count * results * lw.teams;
    for (var unit = group.x * lw_teams; unit < units; unit += groups.x * lw_teams) {
        let own = unit + invocation / 16u;
        let row = own / lw.teams / results;
        let block = own % (results * lw.teams);
        let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
        var length = 0u;
        if (own < units && block < lw.blocks) {
            length = min(lw.length - block * lw_block, lw_block);
        }
        let first = (at.x >> $vector_shift) + block * (lw_block / 4u);
        var result = lw_reduce_team(first, block * lw_block, length, invocation);
        let is_first = invocation % 16u == 0u;
        for (var step = 1u; step < lw.teams; step *= 2u) {
            if (is_first) {
                lw_team_partials[0][invocation] = result;
            }
            workgroupBarrier();
            if (is_first && own % (2u * step) == 0u && block + step < lw.blocks) {
                result = $combine_blocks(result, lw_team_partials[0][invocation + 16u * step]);
            }
            workgroupBarrier();
        }
        if (is_first && own < units && own % lw.teams == 0u) {
            if (results > 1u) {
                scratch_buffer[own / lw.teams] = result;
            } else {
                $store;
            }
        }
        $separate
    }
}
