// Reduces each row of `length` elements to one, in the same order as the CPU. The order depends only on the length:
// 1. Split the row into blocks of 4096 elements.
// 2. In a block, partial result p combines the elements p, p + 64, p + 128 ...
// 3. Combine the 64 partial results by halves: p with p + 32, then p with p + 16 ...
// 4. Combine the results of blocks in pairs of neighbors, then pairs of pairs.
//
// A workgroup computes the 64 partial results of one block. Rows of one block need only `main`. For longer rows,
// `blocks` writes the result of each block to `scratch`, and `combine` combines the block results of each row. If there
// are many, `runs` first combines each run of 1024 of them, on as many workgroups.
const lw_partials = 64u;
const lw_block = 4096u;
const lw_run = 1024u;
var<workgroup> lw_partial: array<$accumulator, lw_partials>;

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

// Combines results of blocks in pairs of neighbors, then pairs of pairs, from those `begin` apart on: `count` results
// from position `first` on.
fn lw_combine_run(first: u32, begin: u32, count: u32, invocation: u32) {
    for (var step = begin; step < count; step *= 2u) {
        for (var i = invocation * 2u * step; i + step < count; i += lw_partials * 2u * step) {
            scratch_buffer[first + i] = $combine(scratch_buffer[first + i], scratch_buffer[first + i + step]);
        }
        storageBarrier();
    }
}

@compute @workgroup_size(lw_partials)
fn runs(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let runs = (lw.blocks + lw_run - 1u) / lw_run;
    for (var unit = group.x; unit < lw.count * runs; unit += groups.x) {
        let start = unit % runs * lw_run;
        let first = unit / runs * lw.blocks + start;
        let count = min(lw_run, lw.blocks - start);
        lw_partial[invocation] = lw_combine_sixteen(first + 16u * invocation, count - min(count, 16u * invocation));
        workgroupBarrier();
        for (var step = 1u; step < lw_partials; step *= 2u) {
            let i = 2u * step * invocation;
            if (i + step < lw_partials && 16u * (i + step) < count) {
                lw_partial[i] = $combine(lw_partial[i], lw_partial[i + step]);
            }
            workgroupBarrier();
        }
        if (invocation == 0u) {
            scratch_buffer[first] = lw_partial[0];
        }
        workgroupBarrier();
    }
}

// Combines up to 16 results of blocks in the same order.
fn lw_combine_sixteen(first: u32, count: u32) -> $accumulator {
    var results = array<$accumulator, 16>();
    for (var i = 0u; i < 16u; i += 1u) {
        if (i < count) {
            results[i] = scratch_buffer[first + i];
        }
    }
    for (var step = 1u; step < 16u; step *= 2u) {
        for (var i = 0u; i + step < 16u; i += 2u * step) {
            if (i + step < count) {
                results[i] = $combine(results[i], results[i + step]);
            }
        }
    }
    return results[0];
}

@compute @workgroup_size(lw_partials)
fn combine(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = group.x; row < lw.count; row += groups.x) {
        let first = row * lw.blocks;
        lw_combine_run(first, lw.combined, lw.blocks, invocation);
        if (invocation == 0u) {
            let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
            let result = scratch_buffer[first];
            $store;
        }
    }
}
