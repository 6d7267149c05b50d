// For attention.wgsl: a workgroup computes tiles of 64 queries x 64 columns of the values, or 128 if there are more,
// from tiles of 64 keys. An invocation computes 4 queries x 8 keys of the scores, then 4 queries x 8 columns, or twice
// as many. These are products of strips, 16 elements of the queries and keys, or 16 keys; the next strip is loaded into
// registers while one is multiplied. Branches are rare, because they keep a driver from interleaving the steps of
// several scores.
//
// If there are few tiles of queries, the keys are split into parts: the sums of a part go to scratch memory, and
// `combine` adds them.
// 1 if the rows of queries, keys and values are contiguous, at multiples of 16 bytes; 2 is added for 128 columns.
override lw_vectors: u32 = 0u;
override lw_has_rows: bool = (lw_vectors & 1u) != 0u;
override lw_is_wide: bool = (lw_vectors & 2u) != 0u;

struct LwBlock {
    $rows
}

var<workgroup> lw_tile_a: array<array<vec4<f32>, 17>, 16>; // [k][query / 4]; 17 avoids bank conflicts
var<workgroup> lw_tile_b: array<array<vec4<f32>, 33>, 16>; // [k][key or column / 4]
var<workgroup> lw_ranks: array<array<vec4<u32>, 17>, 8>;   // [x][query / 4]
var<workgroup> lw_has_nonfinite: atomic<u32>;              // whether a value that has been loaded is NaN or infinite

$fetch

fn lw_multiply_strip(block: LwBlock, x: u32, y: u32) -> LwBlock {
    var c = block;
    $multiply
    return c;
}

// The same where weights of 0 hide values that are NaN or infinite.
fn lw_multiply_seen(block: LwBlock, x: u32, y: u32) -> LwBlock {
    var c = block;
    for (var k = 0u; k < 16u; k += 1u) {
        let a = lw_tile_a[k][y];
        $multiply_seen
    }
    return c;
}

// The scores of four keys.
fn lw_tile_scores(products: vec4<f32>, mask: u32) -> vec4<f32> {
    let scale = bitcast<f32>(lw.out.w);
    return $score_four;
}

// Hides those of four keys that a query does not see.
fn lw_tile_seen(scores: vec4<f32>, row: u32, key: u32) -> vec4<f32> {
    let begin = max(i32(row) + lw.first, 0);
    let span = u32(max(clamp(i32(row) + lw.last + 1, 0, i32(lw.keys)) - begin, 0));
    let keys = vec4<u32>(key - u32(begin)) + vec4<u32>(0u, 1u, 2u, 3u);
    return select(vec4<f32>($lowest), scores, keys < vec4<u32>(span));
}

// Numbers that are ordered like the scores: 0 for -inf, and the largest for NaN.
fn lw_rank_of(scores: vec4<f32>) -> vec4<u32> {
    let bits = bitcast<vec4<i32>>(scores);
    return bitcast<vec4<u32>>(bits ^ ((bits >> vec4<u32>(31u)) & vec4<i32>(0x7fffffff))) + vec4<u32>(0x7f800001u);
}

fn lw_of_rank(rank: vec4<u32>) -> vec4<f32> {
    let bits = bitcast<vec4<i32>>(rank - vec4<u32>(0x7f800001u));
    return bitcast<vec4<f32>>(bits ^ ((bits >> vec4<u32>(31u)) & vec4<i32>(0x7fffffff)));
}

fn lw_largest_rank(x: vec4<f32>, y: vec4<f32>) -> u32 {
    let ranks = max(lw_rank_of(x), lw_rank_of(y));
    return max(max(ranks.x, ranks.y), max(ranks.z, ranks.w));
}

fn lw_tile_weights(scores: vec4<f32>, largest: f32) -> vec4<f32> {
    return $weight_four;
}

fn lw_rescales(before: vec4<f32>, largest: vec4<f32>) -> vec4<f32> {
    return $rescale_four;
}

fn lw_store_columns(at: u32, column: u32, values: vec4<f32>) {
    for (var c = 0u; c < min(4u, lw.value_depth - column); c += 1u) {
        out_buffer[(at + (column + c) * lw.out.z) >> 2u] = values[c];
    }
}

// Stores four columns of a row of the result, or the sums of a part.
fn lw_store_row(places: LwPlaces, i: u32, part: u32, row: u32, column: u32, sums: vec4<f32>, total: f32, largest: f32) {
    if (row < lw.queries && column < lw.value_depth) {
        if (lw.parts == 1u) {
            lw_store_columns(places.out + row * lw.out.y, column, sums * $reciprocal(total));
        } else {
            let at = ((i * lw.queries + row) * lw.parts + part) * ((lw.value_depth + 7u) / 4u);
            scratch_buffer[at] = vec4<f32>(total, largest, 0.0, 0.0);
            scratch_buffer[at + 1u + column / 4u] = sums;
        }
    }
}

// The first key that a query of a tile sees, and the one after the last.
fn lw_seen(first_row: u32) -> vec2<u32> {
    let last_row = i32(min(first_row + 64u, lw.queries));
    return vec2<u32>(u32(max(i32(first_row) + lw.first, 0)), u32(clamp(last_row + lw.last, 0, i32(lw.keys))));
}

@compute @workgroup_size(128)
fn tiles(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let x = t % 8u;
    let y = t / 8u;
    let own_d = 4u * (t % 4u); // of the elements of queries and keys that an invocation loads
    let own_row = t / 4u;
    let own_column = 4u * (t % 16u); // of the elements of values
    let own_key = t / 16u;
    let batch = lw.count / lw.queries;
    let row_tiles = (lw.queries + 63u) / 64u;
    let columns = select(64u, 128u, lw_is_wide);
    let passes = (lw.value_depth + columns - 1u) / columns;
    for (var i = group.x; i < batch * lw.parts * passes * row_tiles; i += groups.x) {
        let places = lw_places(i % batch);
        let part = i / batch % lw.parts;
        // The last queries come first: if causal, they see most keys.
        let first_row = (row_tiles - 1u - i / (batch * lw.parts * passes)) * 64u;
        let column = i / (batch * lw.parts) % passes * columns;
        let row = first_row + 4u * y;
        let seen = lw_seen(first_row);
        let start = seen.x + part * lw.part_keys;
        let end = min(seen.y, start + lw.part_keys);
        if (part > 0u && start >= end) {
            continue;
        }
        // All queries of the tile see the keys from all_first to all_last - 1.
        let all_first = max(i32(first_row) + 63 + lw.first, 0);
        let all_last = clamp(i32(first_row) + lw.last + 1, 0, i32(lw.keys));
        let query_row = places.inputs.x + (first_row + own_row) * lw.row_strides.x;
        let key_row = places.inputs.y + own_row * lw.row_strides.y;
        let value = places.inputs.z + (column + own_column) * lw.column_strides.z;
        var o = LwBlock();
        var p = LwBlock(); // the columns from 64 on
        var rank = vec4<u32>(); // of the largest scores
        var total = vec4<f32>();
        var a0 = vec4<f32>();
        var a1 = vec4<f32>();
        var b0 = vec4<f32>();
        var b1 = vec4<f32>();
        var c0 = vec4<f32>();
        var c1 = vec4<f32>();
        workgroupBarrier();
        if (t == 0u) {
            atomicStore(&lw_has_nonfinite, 0u);
        }
        var along = own_d;
        var query = query_row + along * lw.column_strides.x;
        var key = key_row + start * lw.row_strides.y + along * lw.column_strides.y;
        $fetch_strips
        for (var tile = start; tile < end; tile += 64u) {
            var s = LwBlock();
            var k = tile + 4u * own_key;
            for (var d = 0u; d < lw.depth; d += 16u) {
                workgroupBarrier();
                $put_strips
                workgroupBarrier();
                if (d + 16u < lw.depth) {
                    along = d + 16u + own_d;
                    query = query_row + along * lw.column_strides.x;
                    key = key_row + tile * lw.row_strides.y + along * lw.column_strides.y;
                    $fetch_strips
                } else {
                    $fetch_value
                }
                s = lw_multiply_strip(s, x, y);
            }
            $scores
            if (i32(tile) < all_first || i32(tile) + 64 > all_last) {
                $hide
            }
            $put_ranks
            workgroupBarrier();
            let before = lw_of_rank(rank);
            $ranks
            let largest = lw_of_rank(rank);
            let scale = lw_rescales(before, largest);
            $weights
            $totals
            $rescale_rows
            // A strip consists of 2 of the 8 keys of each invocation: all put weights.
            for (var strip = 0u; strip < 4u; strip += 1u) {
                switch (strip) {
                    $put_weights
                }
                $put_value
                if (max(lw_largest_bits(b0, b1), lw_largest_bits(c0, c1)) >= lw_INFINITY_BITS) {
                    atomicStore(&lw_has_nonfinite, 1u);
                }
                workgroupBarrier();
                let next = strip + 1u;
                if (next < 4u) {
                    k = tile + next / 2u * 32u + next % 2u * 2u + 4u * own_key;
                    $fetch_value
                } else {
                    along = own_d;
                    query = query_row + along * lw.column_strides.x;
                    key = key_row + (tile + 64u) * lw.row_strides.y + along * lw.column_strides.y;
                    $fetch_strips
                }
                if (atomicLoad(&lw_has_nonfinite) == 0u) {
                    o = lw_multiply_strip(o, x, y);
                    if (lw_is_wide) { p = lw_multiply_strip(p, x + 16u, y); }
                } else {
                    o = lw_multiply_seen(o, x, y);
                    if (lw_is_wide) { p = lw_multiply_seen(p, x + 16u, y); }
                }
                workgroupBarrier();
            }
        }
        workgroupBarrier();
        lw_tile_a[x][y] = total;
        workgroupBarrier();
        total = vec4<f32>();
        for (var j = 0u; j < 8u; j += 1u) {
            total += lw_tile_a[j][y];
        }
        let largest = lw_of_rank(rank);
        $store
    }
}

fn lw_largest_bits(x: vec4<f32>, y: vec4<f32>) -> u32 {
    let mask = vec4<u32>(~lw_SIGN_BIT);
    let bits = max(bitcast<vec4<u32>>(x) & mask, bitcast<vec4<u32>>(y) & mask);
    return max(max(bits.x, bits.y), max(bits.z, bits.w));
}

// Adds the parts of a row, in their order, for four columns.
@compute @workgroup_size(256)
fn combine(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let vectors = (lw.value_depth + 3u) / 4u;
    for (var i = id.x; i < lw.count * vectors; i += groups.x * 256u) {
        let query = i / vectors;
        let row = query % lw.queries;
        let seen = lw_seen(row / 64u * 64u);
        let parts = max(1u, (max(seen.x, seen.y) - seen.x + lw.part_keys - 1u) / lw.part_keys);
        let first = query * lw.parts * (vectors + 1u);
        let after = first + parts * (vectors + 1u);
        var rank = vec4<u32>();
        for (var at = first; at < after; at += vectors + 1u) {
            rank = max(rank, lw_rank_of(scratch_buffer[at]));
        }
        let largest = lw_of_rank(rank).y;
        var total = 0.0;
        var sums = vec4<f32>();
        for (var at = first; at < after; at += vectors + 1u) {
            let scale = $rescale(scratch_buffer[at].y, largest);
            if (!lw_is_zero(scale)) { // otherwise, the sums of the part may be infinite
                total += scratch_buffer[at].x * scale;
                sums += scratch_buffer[at + 1u + i % vectors] * scale;
            }
        }
        let out = lw_places(query / lw.queries).out + row * lw.out.y;
        lw_store_columns(out, i % vectors * 4u, sums * $reciprocal(total));
    }
}
