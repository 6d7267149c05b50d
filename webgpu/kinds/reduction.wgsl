// Reduces each row of `length` elements to one, in the same order as the CPU. The order depends only on the length:
// 1. Split the row into blocks of 4096 elements.
// 2. In a block, partial result p combines the elements p, p + 64, p + 128 ...
// 3. Combine the 64 partial results by halves: p with p + 32, then p with p + 16 ...
// 4. Combine the results of blocks in pairs of neighbors, then pairs of pairs.
//
// `lw.team` invocations reduce a block, and a workgroup as many blocks as it has teams. Member m of a team has the
// partial results m, m + team ...: 8 of them in teams of 8, which are smaller if rows have fewer than 64 elements, and
// 2 in teams of 32, if there are few blocks. Members are `lw.pitch` invocations apart: 1 if the elements of a row are
// adjacent in memory. If those of neighboring rows are, neighboring invocations reduce neighboring rows.
//
// Rows of one block need only `main`. For longer rows, it writes the result of each block to `scratch`, and `combine`
// combines the results of each row.
const lw_group = 256u;
const lw_block = 4096u;
override lw_has_large_teams: u32 = 0u; // 1 if teams have 32 members
var<workgroup> lw_partial: array<$accumulator, lw_group>;

// Leaves the result of elements first .. end - 1 in lw_partial, at the first member of the team. Only this member reads
// it, and overwrites it for the next block, so no barrier is needed in between.
fn $reduce_block(row: vec4<u32>, first: u32, end: u32, ${scale}member: u32, invocation: u32) {
    let step = lw.team;
    let stride = lw.strides[lw.outer];
    $partials
    for (var i = first + member; i < end; i += 8u * step) {
        $positions
        if (lw.ndim > lw.outer + 1u) {
            $offsets
        }
        $load
        if (lw_has_large_teams != 0u) {
            $combine_two
        } else {
            $combine_eight
        }
    }
    $halves
    lw_partial[invocation] = p0;
    workgroupBarrier();
    for (var half = lw.team / 2u; half > 0u; half /= 2u) {
        if (member < half) {
            lw_partial[invocation] = lw_join(lw_partial[invocation], lw_partial[invocation + half * lw.pitch]);
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(lw_group)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let member = lw_member(invocation);
    let own = lw_own_team(invocation);
    let units = lw.count * max(lw.blocks, 1u);
    let teams = lw_group / lw.team;
    for (var start = group.x * teams; start < units; start += groups.x * teams) {
        var row = start + own;
        var block = 0u;
        if (lw.blocks > 1u) {
            block = row / lw.count;
            row -= block * lw.count;
        }
        let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
        let end = select(0u, min(lw.length, (block + 1u) * lw_block), start + own < units);
        lw_reduce_block(at, block * lw_block, end, member, invocation);
        if (member == 0u && start + own < units) {
            let result = lw_partial[invocation];
            if (lw.blocks > 1u) {
                scratch_buffer[row * lw.blocks + block] = result;
            } else {
                $store;
            }
        }
    }
}

var<workgroup> lw_results: array<$accumulator, lw_group>;

fn lw_join(a: $accumulator, b: $accumulator) -> $accumulator {
    return $combine(a, b);
}

// Combines up to 1024 results in scratch memory, 4 on each member of a team, and leaves what they make in lw_results,
// at the first member.
fn lw_combine_run(first: u32, count: u32, member: u32, invocation: u32) {
    let own = 4u * member;
    let last = count - 1u;
    var a = scratch_buffer[first + min(own, last)];
    let b = scratch_buffer[first + min(own + 1u, last)];
    var c = scratch_buffer[first + min(own + 2u, last)];
    let d = scratch_buffer[first + min(own + 3u, last)];
    if (own + 1u < count) { a = $combine_blocks(a, b); }
    if (own + 3u < count) { c = $combine_blocks(c, d); }
    if (own + 2u < count) { a = $combine_blocks(a, c); }
    lw_results[invocation] = a;
    workgroupBarrier();
    for (var step = 1u; 4u * step < count; step *= 2u) {
        if (member % (2u * step) == 0u && 4u * (member + step) < count) {
            lw_results[invocation] = $combine_blocks(lw_results[invocation], lw_results[invocation + step]);
        }
        workgroupBarrier();
    }
}

// Replaces each run of 1024 results of a row by one, until one is left. If rows have fewer results, a workgroup
// combines those of several rows.
@compute @workgroup_size(lw_group)
fn combine(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let results = (lw.blocks + lw.teams - 1u) / lw.teams;
    var team = lw_group;
    while (2u * team >= results && team > 1u) {
        team /= 2u;
    }
    let teams = lw_group / team;
    let member = invocation % team;
    for (var start = group.x * teams; start < lw.count; start += groups.x * teams) {
        let own = start + invocation / team;
        let row = min(own, lw.count - 1u);
        let first = row * results;
        for (var count = results; count > 1u; count = (count + 1023u) / 1024u) {
            for (var run = 0u; run < count; run += 1024u) {
                lw_combine_run(first + run, min(1024u, count - run), member, invocation);
                if (invocation == 0u && count > 1024u) {
                    scratch_buffer[first + run / 1024u] = lw_results[0];
                }
                storageBarrier();
                workgroupBarrier();
            }
        }
        if (member == 0u && own < lw.count) {
            let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
            let result = lw_results[invocation];
            $store;
        }
    }
}
