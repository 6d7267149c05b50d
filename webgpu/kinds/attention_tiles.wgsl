// For attention.wgsl: a workgroup computes tiles of 64 queries x 64 columns of the values, from tiles of 64 keys. An
// invocation computes 4 queries x 4 keys of the scores, then 4 queries x 4 columns. Both are products of strips, 16
// elements of the queries and keys, or 16 keys; the next strip is loaded into registers while one is multiplied.
struct LwBlock {
    $rows
}

var<workgroup> lw_tile_a: array<array<vec4<f32>, 17>, 16>; // [k][query / 4]; 17 avoids bank conflicts
var<workgroup> lw_tile_b: array<array<vec4<f32>, 17>, 16>; // [k][key or column / 4]
var<workgroup> lw_row_largest: array<vec4<f32>, 16>;       // by query
var<workgroup> lw_row_scale: array<vec4<f32>, 16>;
var<workgroup> lw_has_nonfinite: atomic<u32>;              // whether a value that has been loaded is NaN or infinite

fn lw_tile_value(at: u32, key: u32, end: u32, is_column: bool) -> f32 {
    if (is_column && key < end) {
        return $value(at + key * lw.row_strides.z);
    }
    return 0.0;
}

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
        let b = lw_tile_b[k][x];
        $multiply_seen
    }
    return c;
}

fn lw_tile_score(product: f32, begin: u32, span: u32, key: u32, mask: u32) -> f32 {
    if (key - begin < span) {
        return $score(product, bitcast<f32>(lw.out.w), $mask(mask));
    }
    return $lowest;
}

// The scores of four keys.
fn lw_tile_scores(products: vec4<f32>, row: u32, key: u32, masks: u32) -> vec4<f32> {
    let begin = max(i32(row) + lw.first, 0);
    let span = u32(max(clamp(i32(row) + lw.last + 1, 0, i32(lw.keys)) - begin, 0));
    let mask = masks + row * lw.row_strides.w + key * lw.column_strides.w;
    return lw_score_four(products, u32(begin), span, key, mask);
}

fn lw_score_four(products: vec4<f32>, begin: u32, span: u32, key: u32, mask: u32) -> vec4<f32> {
    return $score_four;
}

fn lw_largest_of_four(scores: vec4<f32>) -> f32 {
    return $maximum($maximum(scores.x, scores.y), $maximum(scores.z, scores.w));
}

// The largest of what four invocations have found in row `i`.
fn lw_largest_from(x: u32, i: u32) -> f32 {
    let column = i / 4u;
    return lw_largest_of_four(vec4<f32>(
        lw_tile_a[x][column][i % 4u], lw_tile_a[x + 1u][column][i % 4u],
        lw_tile_a[x + 2u][column][i % 4u], lw_tile_a[x + 3u][column][i % 4u]
    ));
}

fn lw_tile_weights(scores: vec4<f32>, largest: f32) -> vec4<f32> {
    return $weight_four;
}

fn lw_store_mean(base: u32, row: u32, column: u32, sums: vec4<f32>, total: f32) {
    for (var c = 0u; row < lw.queries && c < min(4u, max(column, lw.value_depth) - column); c += 1u) {
        out_buffer[(base + row * lw.out.y + (column + c) * lw.out.z) >> 2u] = $mean(sums[c], total);
    }
}

@compute @workgroup_size(256)
fn tiles(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let x = invocation % 16u;
    let y = invocation / 16u;
    let own_d = invocation % 16u; // of the elements of queries and keys that an invocation loads
    let own_row = invocation / 16u;
    let own_column = invocation % 64u; // of the elements of values
    let own_v = invocation / 64u;
    let batch = lw.count / lw.queries;
    let row_tiles = (lw.queries + 63u) / 64u;
    for (var i = group.x; i < batch * row_tiles; i += groups.x) {
        let places = lw_places(i % batch);
        let first_row = (row_tiles - 1u - i / batch) * 64u; // last queries first: if causal, they see most keys
        let row = first_row + 4u * y;
        let last_row = i32(min(first_row + 64u, lw.queries));
        let start = u32(max(i32(first_row) + lw.first, 0));
        let end = u32(clamp(last_row + lw.last, 0, i32(lw.keys)));
        let query_row = places.inputs.x + (first_row + own_row) * lw.row_strides.x;
        let key_row = places.inputs.y + own_row * lw.row_strides.y;
        for (var column = 0u; column < lw.value_depth; column += 64u) {
            let is_column = column + own_column < lw.value_depth;
            let value = places.inputs.z + (column + own_column) * lw.column_strides.z;
            var o = LwBlock();
            var total = vec4<f32>();
            var row_largest = $lowest; // of query first_row + invocation
            var a = vec4<f32>();
            var b = vec4<f32>();
            var v = vec4<f32>();
            workgroupBarrier();
            if (invocation == 0u) {
                atomicStore(&lw_has_nonfinite, 0u);
            }
            if (own_d < lw.depth) {
                let query = query_row + own_d * lw.column_strides.x;
                let key = key_row + start * lw.row_strides.y + own_d * lw.column_strides.y;
                $fetch_strip
            }
            for (var tile = start; tile < end; tile += 64u) {
                var s = LwBlock();
                for (var d = 0u; d < lw.depth; d += 16u) {
                    workgroupBarrier();
                    $put_strips
                    workgroupBarrier();
                    let is_last = d + 16u >= lw.depth; // after it comes the first strip of the next tile
                    let along = select(d + 16u, 0u, is_last) + own_d;
                    a = vec4<f32>();
                    b = vec4<f32>();
                    if (along < lw.depth) {
                        let query = query_row + along * lw.column_strides.x;
                        let key = key_row + select(tile, tile + 64u, is_last) * lw.row_strides.y +
                            along * lw.column_strides.y;
                        $fetch_strip
                    }
                    s = lw_multiply_strip(s, x, y);
                }
                var k = tile + own_v;
                $fetch_value
                $scores
                workgroupBarrier();
                $largest
                workgroupBarrier();
                if (invocation < 64u) {
                    let before = row_largest;
                    row_largest = $maximum(before, lw_largest_of_four(vec4<f32>(
                        lw_largest_from(0u, invocation), lw_largest_from(4u, invocation),
                        lw_largest_from(8u, invocation), lw_largest_from(12u, invocation)
                    )));
                    lw_row_largest[invocation / 4u][invocation % 4u] = row_largest;
                    lw_row_scale[invocation / 4u][invocation % 4u] = $rescale(before, row_largest);
                }
                workgroupBarrier();
                let largest = lw_row_largest[y];
                let scale = lw_row_scale[y];
                $weights
                $totals
                $rescale_rows
                for (var strip = 0u; strip < 4u && tile + 16u * strip < end; strip += 1u) {
                    workgroupBarrier();
                    if (x / 4u == strip) {
                        $put_weights
                    }
                    $put_value
                    if (lw_largest_bits(v) >= lw_INFINITY_BITS) {
                        atomicStore(&lw_has_nonfinite, 1u);
                    }
                    workgroupBarrier();
                    k += 16u;
                    $fetch_value
                    if (atomicLoad(&lw_has_nonfinite) == 0u) {
                        o = lw_multiply_strip(o, x, y);
                    } else {
                        o = lw_multiply_seen(o, x, y);
                    }
                }
            }
            workgroupBarrier();
            lw_tile_a[x][y] = total;
            workgroupBarrier();
            total = vec4<f32>();
            for (var j = 0u; j < 16u; j += 1u) {
                total += lw_tile_a[j][y];
            }
            $store
        }
    }
}

fn lw_largest_bits(x: vec4<f32>) -> u32 {
    let bits = bitcast<vec4<u32>>(x) & vec4<u32>(~lw_SIGN_BIT);
    return max(max(bits.x, bits.y), max(bits.z, bits.w));
}
