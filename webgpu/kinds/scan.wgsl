// Computes the prefix sums of each row, in blocks of 64 tiles of 64 elements. A workgroup scans one tile of a block
// after another, by the network of Sklansky (core/ops/cumulative_sum.h), and adds the sum of all earlier tiles. Rows of
// one block need only `main`. For longer rows, `blocks` first writes the sum of each block to `scratch`, and `combine`
// replaces it by the sum of all earlier blocks.
const lw_tile = 64u;
const lw_block = 4096u;
var<workgroup> lw_scanned: array<$item, lw_tile>;

// Scans a tile: in each group of 2, then 4, 8 ... 64 elements, adds the last element of the lower half to each element
// of the upper half. Elements beyond the end of the row are the identity.
fn lw_scan_tile(row: vec4<u32>, i: u32, invocation: u32) {
    let at = row + i * lw.strides[lw.outer];
    var item = $identity;
    if (i < lw.length) {
        item = $load;
    }
    lw_scanned[invocation] = item;
    workgroupBarrier();
    for (var half = 1u; half < lw_tile; half *= 2u) {
        if ((invocation & half) != 0u) {
            lw_scanned[invocation] += lw_scanned[(invocation & ~(2u * half - 1u)) + half - 1u];
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(lw_tile)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    for (var unit = group.x; unit < lw.count * lw.blocks; unit += groups.x) {
        let row = lw.offsets + lw_element_offsets(unit / lw.blocks, 0u, lw.outer);
        let start = unit % lw.blocks * lw_block;
        var before = $zero;
        if (lw.blocks > 1u) {
            before = scratch_buffer[unit];
        }
        for (var first = start; first < min(lw.length, start + lw_block); first += lw_tile) {
            let i = first + invocation;
            lw_scan_tile(row, i, invocation);
            if (i < lw.length) {
                let at = row + i * lw.strides[lw.outer];
                let value = $value;
                $store;
            }
            before = $advance;
            workgroupBarrier();
        }
    }
}

@compute @workgroup_size(lw_tile)
fn blocks(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    for (var unit = group.x; unit < lw.count * lw.blocks; unit += groups.x) {
        let row = lw.offsets + lw_element_offsets(unit / lw.blocks, 0u, lw.outer);
        let start = unit % lw.blocks * lw_block;
        var before = $zero;
        for (var first = start; first < min(lw.length, start + lw_block); first += lw_tile) {
            lw_scan_tile(row, first + invocation, invocation);
            before = $advance;
            workgroupBarrier();
        }
        if (invocation == 0u) {
            scratch_buffer[unit] = before;
        }
    }
}

@compute @workgroup_size(lw_tile)
fn combine(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = id.x; row < lw.count; row += groups.x * lw_tile) {
        var before = $zero;
        for (var unit = row * lw.blocks; unit < (row + 1u) * lw.blocks; unit += 1u) {
            let block = scratch_buffer[unit];
            scratch_buffer[unit] = before;
            before = $join(before, block);
        }
    }
}
