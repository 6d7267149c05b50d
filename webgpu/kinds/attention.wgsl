// Attention. A workgroup computes one row of the result, a weighted mean of values, for one query after another. It
// reads the keys that the query sees in tiles: each invocation computes the score of one key of a tile. The weights are
// relative to the largest score so far; when it grows, what has been added up is scaled down. Source: Dao et al.,
// FlashAttention, 2022 (arXiv:2205.14135).
const lw_keys = 64u;     // of a tile, and invocations of a workgroup
const lw_columns = 4u;   // of the values, for each invocation; wider values take several passes over the keys

struct LwAttentionLayout {
    offsets: vec4<u32>,                // of query, key, value and mask, in bytes modulo 2^32, like strides
    row_strides: vec4<u32>,
    column_strides: vec4<u32>,
    batch_shape: vec4<u32>,
    batch_strides: array<vec4<u32>, 4>,
    out_strides: vec4<u32>,            // the result's strides along the batch
    out: vec4<u32>,                    // the result's offset, row stride and column stride, and the scale, a float32
    queries: u32,
    keys: u32,
    depth: u32,
    value_depth: u32,
    first: i32,                        // query i sees keys i + first to i + last
    last: i32,
    batch_ndim: u32,
    count: u32,                        // number of queries of the batch
    number_x: vec2<u32>,               // an element that an operand consists of, if it is a number
    number_y: vec2<u32>,
    number_z: vec2<u32>,
    number_w: vec2<u32>,
    parts: u32,                        // that the keys are split into, for a tile of queries
    part_keys: u32,
}

var<workgroup> lw_weights: array<f32, lw_keys>;
var<workgroup> lw_found: array<f32, lw_keys>;

// The byte offsets of the operands for index `i` of the batch; of the result in .out.
struct LwPlaces {
    inputs: vec4<u32>,
    out: u32,
}

fn lw_places(i: u32) -> LwPlaces {
    var places = LwPlaces(lw.offsets, lw.out.x);
    var remaining = i;
    for (var d = lw.batch_ndim; d > 0u; ) {
        d -= 1u;
        let extent = lw.batch_shape[d];
        let slower = remaining / extent;
        let along = remaining - slower * extent;
        places.inputs += along * lw.batch_strides[d];
        places.out += along * lw.out_strides[d];
        remaining = slower;
    }
    return places;
}

// Returns the largest of the numbers of all invocations.
fn lw_largest(x: f32, invocation: u32) -> f32 {
    lw_found[invocation] = x;
    workgroupBarrier();
    for (var half = lw_keys / 2u; half > 0u; half /= 2u) {
        if (invocation < half) {
            lw_found[invocation] = $maximum(lw_found[invocation], lw_found[invocation + half]);
        }
        workgroupBarrier();
    }
    let largest = lw_found[0];
    workgroupBarrier();
    return largest;
}

// The score of one key: the scaled dot product plus the mask, or -inf if the query does not see the key.
fn lw_score(query: vec4<u32>, key: u32) -> f32 {
    var sum = 0.0;
    for (var d = 0u; d < lw.depth; d += 1u) {
        let at = query.xy + vec2<u32>(0u, key * lw.row_strides.y) + d * lw.column_strides.xy;
        sum += $query(at.x) * $key(at.y);
    }
    return $score(sum, bitcast<f32>(lw.out.w), $mask(query.w + key * lw.column_strides.w));
}

@compute @workgroup_size(lw_keys)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.x; i < lw.count; i += groups.x) {
        let row = i % lw.queries;
        let places = lw_places(i / lw.queries);
        let values = places.inputs.z;
        let query = places.inputs + row * lw.row_strides * vec4<u32>(1u, 0u, 0u, 1u);
        let begin = u32(max(i32(row) + lw.first, 0));
        let end = u32(clamp(i32(row) + lw.last + 1, 0, i32(lw.keys)));
        for (var column = 0u; column < lw.value_depth; column += lw_keys * lw_columns) {
            var largest = $lowest;
            var total = 0.0;
            var sums = vec4<f32>();
            for (var tile = begin; tile < end; tile += lw_keys) {
                let key = tile + invocation;
                var score = $lowest;
                if (key < end) {
                    score = lw_score(query, key);
                }
                let before = largest;
                largest = lw_largest($maximum(before, score), invocation);
                lw_weights[invocation] = $weight(score, largest);
                workgroupBarrier();
                let scale = $rescale(before, largest);
                total *= scale;
                sums = select(sums * scale, vec4<f32>(), lw_is_zero(scale)); // they may be infinite
                for (var k = 0u; k < min(lw_keys, end - tile); k += 1u) {
                    let weight = lw_weights[k];
                    total += weight;
                    if (weight != 0.0) { // values of hidden keys may be NaN
                        for (var c = 0u; c < lw_columns; c += 1u) {
                            let along = column + c * lw_keys + invocation;
                            if (along < lw.value_depth) {
                                let at = values + (tile + k) * lw.row_strides.z + along * lw.column_strides.z;
                                sums[c] += weight * $value(at);
                            }
                        }
                    }
                }
                workgroupBarrier();
            }
            for (var c = 0u; c < lw_columns; c += 1u) {
                let at = column + c * lw_keys + invocation;
                if (at < lw.value_depth) {
                    out_buffer[(places.out + row * lw.out.y + at * lw.out.z) >> 2u] = sums[c] * $reciprocal(total);
                }
            }
        }
    }
}
