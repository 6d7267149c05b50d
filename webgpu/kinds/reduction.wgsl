// Reduces each row of `length` elements to one, in the same order as the CPU. The order depends only on the length:
// 1. Split the row into blocks of 4096 elements.
// 2. In a block, partial result p combines the elements p, p + 64, p + 128 ...
// 3. Combine the 64 partial results by halves: p with p + 32, then p with p + 16 ...
// 4. Combine the results of blocks in pairs of neighbors, then pairs of pairs.
//
// A workgroup computes the 64 partial results of one block. Rows of one block need only `main`. For longer rows,
// `blocks` writes the result of each block to `scratch`, and `combine` combines the block results of each row. If there
// are many, `runs` first combines each run of 16384 of them, on as many workgroups.
const lw_partials = 64u;
const lw_block = 4096u;
const lw_run = 16384u;
const lw_combiners = 256u; // invocations that combine a run
var<workgroup> lw_partial: array<$accumulator, lw_partials>;
var<workgroup> lw_combined: array<$accumulator, lw_combiners>;

// Leaves the result in lw_partial[0]. Only invocation 0 reads it and overwrites it for the next block, so no barrier is
// needed in between.
fn lw_reduce_block(row: vec4<u32>, block: u32, invocation: u32) {
    let end = min(lw.length, (block + 1u) * lw_block);
    var partial = $identity;
    for (var i = block * lw_block + invocation; i < end; i += lw_partials) {
        let at = row + lw_element_offsets(i, lw.outer, lw.ndim);
        partial = $combine(partial, $map);
    }
    lw_partial[invocation] = partial;
    workgroupBarrier();
    for (var half = lw_partials / 2u; half > 0u; half /= 2u) {
        if (invocation < half) {
            lw_partial[invocation] = $combine(lw_partial[invocation], lw_partial[invocation + half]);
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(lw_partials)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = group.x; row < lw.count; row += groups.x) {
        let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
        lw_reduce_block(at, 0u, invocation);
        if (invocation == 0u) {
            let result = lw_partial[0];
            $store;
        }
    }
}

@compute @workgroup_size(lw_partials)
fn blocks(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    for (var unit = group.x; unit < lw.count * lw.blocks; unit += groups.x) {
        let row = unit / lw.blocks;
        lw_reduce_block(lw.offsets + lw_element_offsets(row, 0u, lw.outer), unit % lw.blocks, invocation);
        if (invocation == 0u) {
            scratch_buffer[unit] = lw_partial[0];
        }
    }
}

// Combines up to 16 results of blocks that are `step` apart, in pairs of neighbors, then pairs of pairs.
fn lw_combine_sixteen(first: u32, step: u32, count: u32) -> $accumulator {
    $whole_sixteen
    var results = array<$accumulator, 16>();
    for (var i = 0u; i < 16u; i += 1u) {
        if (i < count) {
            results[i] = scratch_buffer[first + i * step];
        }
    }
    for (var apart = 1u; apart < 16u; apart *= 2u) {
        for (var i = 0u; i + apart < 16u; i += 2u * apart) {
            if (i + apart < count) {
                results[i] = $combine(results[i], results[i + apart]);
            }
        }
    }
    return results[0];
}

// Does the same with up to 64 results.
fn lw_combine_some(first: u32, step: u32, count: u32) -> $accumulator {
    var result = lw_combine_sixteen(first, step, count);
    if (count > 16u) {
        result = $combine(result, lw_combine_sixteen(first + 16u * step, step, count - 16u));
    }
    if (count > 32u) {
        var second = lw_combine_sixteen(first + 32u * step, step, count - 32u);
        if (count > 48u) {
            second = $combine(second, lw_combine_sixteen(first + 48u * step, step, count - 48u));
        }
        result = $combine(result, second);
    }
    return result;
}

// Does the same with up to lw_run results, on a workgroup. Leaves the result in lw_combined[0].
fn lw_combine_run(first: u32, step: u32, count: u32, invocation: u32) {
    let own = select(16u, 64u, count > 16u * lw_combiners); // results per invocation
    let begin = own * invocation;
    if (begin < count) {
        lw_combined[invocation] = lw_combine_some(first + begin * step, step, min(own, count - begin));
    }
    workgroupBarrier();
    for (var apart = 1u; apart < lw_combiners; apart *= 2u) {
        let i = 2u * apart * invocation;
        if (i + apart < lw_combiners && own * (i + apart) < count) {
            lw_combined[i] = $combine(lw_combined[i], lw_combined[i + apart]);
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(lw_combiners)
fn runs(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let runs = (lw.blocks + lw_run - 1u) / lw_run;
    for (var unit = group.x; unit < lw.count * runs; unit += groups.x) {
        let start = unit % runs * lw_run;
        let first = unit / runs * lw.blocks + start;
        lw_combine_run(first, 1u, min(lw_run, lw.blocks - start), invocation);
        if (invocation == 0u) {
            scratch_buffer[first] = lw_combined[0];
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(lw_combiners)
fn combine(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = group.x; row < lw.count; row += groups.x) {
        lw_combine_run(row * lw.blocks, lw.combined, (lw.blocks + lw.combined - 1u) / lw.combined, invocation);
        if (invocation == 0u) {
            let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
            let result = lw_combined[0];
            $store;
        }
        workgroupBarrier();
    }
}
