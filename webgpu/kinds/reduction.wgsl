// A row of `length` elements becomes one. As on the CPU, a row is cut into blocks of 4096 elements; in a block,
// partial result p takes the elements p, p + 64, p + 128 ...; the 64 partial results fold in halves; and the blocks'
// results combine in pairs of neighbours, then pairs of pairs. The order is fixed by the length alone.
//
// A workgroup is the 64 partial results of one block. Rows of one block need only `main`; for longer ones `blocks`
// leaves the blocks' results in `scratch`, and `combine` folds those of each row.
const lw_lanes = 64u;
const lw_block = 4096u;
var<workgroup> lw_partial: array<$accumulator, 64>;

fn lw_reduce_block(row: vec4<u32>, block: u32, lane: u32) {
    let end = min(lw.length, (block + 1u) * lw_block);
    var partial = $identity;
    for (var i = block * lw_block + lane; i < end; i += lw_lanes) {
        let at = row + lw_walk(i, lw.outer, lw.ndim);
        partial = $combine(partial, $map);
    }
    lw_partial[lane] = partial;
    workgroupBarrier();
    for (var half = lw_lanes / 2u; half > 0u; half /= 2u) {
        if (lane < half) {
            lw_partial[lane] = $combine(lw_partial[lane], lw_partial[lane + half]);
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = group.x; row < lw.count; row += groups.x) {
        let at = lw.offsets + lw_walk(row, 0u, lw.outer);
        lw_reduce_block(at, 0u, lane);
        if (lane == 0u) {
            let result = lw_partial[0];
            $store;
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(64)
fn blocks(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    for (var unit = group.x; unit < lw.count * lw.blocks; unit += groups.x) {
        let row = unit / lw.blocks;
        lw_reduce_block(lw.offsets + lw_walk(row, 0u, lw.outer), unit % lw.blocks, lane);
        if (lane == 0u) {
            scratch_buffer[unit] = lw_partial[0];
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(64)
fn combine(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = group.x; row < lw.count; row += groups.x) {
        let first = row * lw.blocks;
        for (var step = 1u; step < lw.blocks; step *= 2u) {
            for (var i = lane * 2u * step; i + step < lw.blocks; i += lw_lanes * 2u * step) {
                scratch_buffer[first + i] = $combine(scratch_buffer[first + i], scratch_buffer[first + i + step]);
            }
            storageBarrier();
        }
        if (lane == 0u) {
            let at = lw.offsets + lw_walk(row, 0u, lw.outer);
            let result = scratch_buffer[first];
            $store;
        }
    }
}
