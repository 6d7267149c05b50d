// Computes the prefix sums of each row, in tiles of 64 elements. Within a tile, by the network of Sklansky
// (core/ops/cumulative_sum.h): 16 invocations have four neighboring elements each. A workgroup scans 64 tiles at once,
// `lw.team` of each row, adds the sum of all earlier tiles to each, and goes on to the next tiles of these rows. If the
// elements of neighboring rows are adjacent in memory, neighboring invocations have `lw.pitch` neighboring rows;
// otherwise, this is 1.
//
// Few long rows are divided into `lw.blocks` blocks, which are scanned `lw.teams` times in this way. Then `blocks`
// first writes the sum of each block to `scratch`, and workgroups of `main` add up those of the earlier blocks.
const lw_group = 256u;
const lw_members = 16u;
const lw_tile = 64u;
const lw_tiles = 64u;
// 1 if four elements of a row are read at once. 2 is added for the positions of the elements that are not zero, of a
// single row: the sums say where they go. Behind them, at the end of the result, is their number.
override lw_row_vectors: u32 = 0u;
var<workgroup> lw_last: array<array<vec4<$item>, lw_group>, 2>;
var<workgroup> lw_sums: array<$sum, lw_tiles>; // of the tiles so far, of a row
var<workgroup> lw_blocks: array<$sum, lw_group>;

// Scans four elements that begin with element i, with the identity for those that are not in the row.
fn lw_scan_four(row: vec4<u32>, i: u32, end: u32) -> vec4<$item> {
    let stride = lw.strides[lw.outer].x;
    let at = row.x + i * stride;
    var x = vec4<$item>($identity);
    if ((lw_row_vectors & 1u) != 0u) {
        if (i < end) { x = lw_load_four(at); }
    } else {
        if (i < end) { x.x = lw_load_$input(at); }
        if (i + 1u < end) { x.y = lw_load_$input(at + stride); }
        if (i + 2u < end) { x.z = lw_load_$input(at + 2u * stride); }
        if (i + 3u < end) { x.w = lw_load_$input(at + 3u * stride); }
    }
    if (i + 1u >= end) { x.y = $identity; }
    if (i + 2u >= end) { x.z = $identity; }
    if (i + 3u >= end) { x.w = $identity; }
    x.y += x.x;
    x.w += x.z;
    x.z += x.y;
    x.w += x.y;
    return x;
}

fn lw_store_four(row: vec4<u32>, i: u32, end: u32, x: vec4<$item>, before: $sum) {
    let stride = lw.strides[lw.outer].y;
    let at = row.y + i * stride;
    let values = vec4<$item>($values);
    $select
    if ((lw_row_vectors & 1u) != 0u && i + 3u < end) {
        out_buffer[at >> 4u] = values;
        return;
    }
    if (i < end) { lw_store_one(at, values.x); }
    if (i + 1u < end) { lw_store_one(at + stride, values.y); }
    if (i + 2u < end) { lw_store_one(at + 2u * stride, values.z); }
    if (i + 3u < end) { lw_store_one(at + 3u * stride, values.w); }
}

fn lw_load_four(at: u32) -> vec4<$item> {
    if ((lw_sources & 3u) == 2u) { return $out_four; }
    return $own_four;
}

fn lw_store_one(at: u32, value: $item) {
    out_buffer[at >> 4u][(at >> 2u) & 3u] = value;
}

// Returns the sum of the first blocks of a row.
fn lw_sum_of_blocks(row: u32, count: u32, invocation: u32) -> $sum {
    var sum = $zero;
    for (var i = invocation / lw.pitch; i < count; i += lw_group / lw.pitch) {
        sum = $join(sum, scratch_buffer[row * lw.blocks + i]);
    }
    lw_blocks[invocation] = sum;
    workgroupBarrier();
    for (var half = lw_group / 2u; half >= lw.pitch; half /= 2u) {
        if (invocation < half) {
            lw_blocks[invocation] = $join(lw_blocks[invocation], lw_blocks[invocation + half]);
        }
        workgroupBarrier();
    }
    return lw_blocks[invocation % lw.pitch];
}

// Scans a block of as many rows as a workgroup has, from `start` on, and returns the sum of the first of them that the
// invocation has, up to the end of the block.
fn lw_scan_block(start: u32, block: u32, writes: bool, invocation: u32) -> $sum {
    let column = invocation % lw.pitch;
    let member = invocation / lw.pitch % lw_members;
    let own = 4u * (invocation / (lw.pitch * lw_members)); // the first of four tiles
    let first = column * (lw_tiles / lw.pitch);
    var before = $zero;
    if (writes && block > 0u) {
        before = lw_sum_of_blocks(min(start + column, lw.count - 1u), block, invocation);
    }
    $rows
    for (var turn = block * lw.teams; turn < (block + 1u) * lw.teams; turn += 1u) {
        let begin = turn * lw.team * lw_tile;
        if (begin >= lw.length) {
            break;
        }
        $scan
        for (var half = 1u; half < lw_members; half *= 2u) {
            let side = select(0u, 1u, (half & 10u) != 0u); // alternates, so that one barrier is enough
            lw_last[side][invocation] = vec4<$item>(x0.w, x1.w, x2.w, x3.w);
            workgroupBarrier();
            if ((member & half) != 0u) {
                let distance = (member & (2u * half - 1u)) + 1u - half;
                let last = lw_last[side][invocation - distance * lw.pitch];
                x0 += last.x;
                x1 += last.y;
                x2 += last.z;
                x3 += last.w;
            }
        }
        if (member == lw_members - 1u) {
            $keep
        }
        workgroupBarrier();
        for (var half = 1u; half < lw.team; half *= 2u) {
            if (invocation < lw_tiles && (invocation & half) != 0u) {
                let sum = lw_sums[(invocation & ~(2u * half - 1u)) + half - 1u];
                lw_sums[invocation] = $join(sum, lw_sums[invocation]);
            }
            workgroupBarrier();
        }
        if (writes) {
            $store
        }
        before = $join(before, lw_sums[first + lw.team - 1u]);
        workgroupBarrier();
    }
    return before;
}

fn lw_before(before: $sum, tile: u32) -> $sum {
    if (tile % lw.team == 0u) {
        return before;
    }
    return $join(before, lw_sums[tile - 1u]);
}

@compute @workgroup_size(lw_group)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let rows = lw_tiles / lw.team;
    for (var unit = group.x; unit < (lw.count + rows - 1u) / rows * lw.blocks; unit += groups.x) {
        let sum = lw_scan_block(unit / lw.blocks * rows, unit % lw.blocks, true, invocation);
        $store_count
    }
}

@compute @workgroup_size(lw_group)
fn blocks(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    let rows = lw_tiles / lw.team;
    for (var unit = group.x; unit < (lw.count + rows - 1u) / rows * lw.blocks; unit += groups.x) {
        let row = unit / lw.blocks * rows + invocation;
        let sum = lw_scan_block(unit / lw.blocks * rows, unit % lw.blocks, false, invocation);
        if (invocation < lw.pitch && row < lw.count) {
            scratch_buffer[row * lw.blocks + unit % lw.blocks] = sum;
        }
    }
}
