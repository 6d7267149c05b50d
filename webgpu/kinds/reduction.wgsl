// Reduces each row of `length` elements to one, in the same order as the CPU. The order depends only on the length:
// 1. Split the row into blocks of 4096 elements.
// 2. In a block, partial result p combines the elements p, p + 64, p + 128 ...
// 3. Combine the 64 partial results by halves: p with p + 32, then p with p + 16 ...
// 4. Combine the results of blocks in pairs of neighbors, then pairs of pairs.
//
// A workgroup computes the 64 partial results of one block. Rows of one block need only `main`. For longer rows,
// `blocks` writes the result of each block to `scratch`, and `combine` combines the results of each row.
const lw_partials = 64u;
const lw_block = 4096u;
var<workgroup> lw_partial: array<$accumulator, lw_partials>;

// Leaves the result in lw_partial[0]. Only invocation 0 reads it and overwrites it for the next block, so no barrier is
// needed in between.
fn $reduce_block(row: vec4<u32>, block: u32, ${scale}invocation: u32) {
    let end = min(lw.length, (block + 1u) * lw_block);
    var partial = $identity;
    for (var i = block * lw_block + invocation; i < end; i += lw_partials) {
        let at = row + lw_element_offsets(i, lw.outer, lw.ndim);
        partial = lw_join(partial, $map);
    }
    lw_partial[invocation] = partial;
    workgroupBarrier();
    for (var half = lw_partials / 2u; half > 0u; half /= 2u) {
        if (invocation < half) {
            lw_partial[invocation] = lw_join(lw_partial[invocation], lw_partial[invocation + half]);
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

var<workgroup> lw_results: array<$accumulator, 256>;

fn lw_join(a: $accumulator, b: $accumulator) -> $accumulator {
    return $combine(a, b);
}

// Combines up to 1024 results in scratch memory, 4 on each invocation, and leaves what they make in lw_results[0].
fn lw_combine_run(first: u32, count: u32, invocation: u32) {
    let own = 4u * invocation;
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
        if (invocation % (2u * step) == 0u && 4u * (invocation + step) < count) {
            lw_results[invocation] = $combine_blocks(lw_results[invocation], lw_results[invocation + step]);
        }
        workgroupBarrier();
    }
}

// Replaces each run of 1024 results of a row by one, until one is left.
@compute @workgroup_size(256)
fn combine(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let results = (lw.blocks + lw.teams - 1u) / lw.teams;
    for (var row = group.x; row < lw.count; row += groups.x) {
        let first = row * results;
        for (var count = results; count > 1u; count = (count + 1023u) / 1024u) {
            for (var start = 0u; start < count; start += 1024u) {
                lw_combine_run(first + start, min(1024u, count - start), invocation);
                if (invocation == 0u) {
                    scratch_buffer[first + start / 1024u] = lw_results[0];
                }
                storageBarrier();
                workgroupBarrier();
            }
        }
        if (invocation == 0u) {
            let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
            let result = lw_results[0];
            $store;
        }
    }
}
