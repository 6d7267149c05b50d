// C[m, n] = A[m, k] B[k, n] for every index of the batch; then the operation's function, which may add a bias, replaces
// each element of C. A workgroup computes a tile of C, 4 x 4 elements per invocation, from strips of A and B that it
// loads into workgroup memory. Beyond the edges of A and B, both strips hold zeros, because zero in only one strip
// times an infinity or NaN in the other would be NaN. Workgroups take tiles with a grid stride, so any size runs in one
// dispatch.
//
// If there are few tiles, or k is large, k is split: `blocks` writes the product of each part to `scratch`, and
// `combine` adds the parts. Otherwise `main` computes the result. Rows in `scratch` start at multiples of 4 elements.
override lw_columns: u32 = 16u; // invocations along n
override lw_rows: u32 = 16u;    // invocations along m
override lw_depth: u32 = 16u;   // extent of a strip along k

struct LwMatrixLayout {
    offsets: vec4<u32>,        // offsets of A, B and the other operands, in bytes modulo 2^32, like strides
    scalars: vec4<u32>,        // bits of the operation's parameters
    row_strides: vec4<u32>,
    column_strides: vec4<u32>,
    batch_shape: array<vec4<u32>, 2>,
    batch_strides: array<vec4<u32>, 8>,
    m: u32,
    n: u32,
    k: u32,
    batch_ndim: u32,
    batch: u32,
    parts: u32,                // number of parts that k is split into
    depth: u32,                // extent of a part along k
    count: u32,                // number of elements of the result
}

// Returns each operand's byte offset for index `i` of the batch.
fn lw_batch_offsets(i: u32) -> vec4<u32> {
    var offsets = vec4<u32>();
    var remaining = i;
    for (var d = lw.batch_ndim; d > 0u; ) {
        d -= 1u;
        let extent = lw.batch_shape[d >> 2u][d & 3u];
        let slower = remaining / extent;
        offsets += (remaining - slower * extent) * lw.batch_strides[d];
        remaining = slower;
    }
    return offsets;
}

fn lw_pitch() -> u32 {
    return (lw.n + 3u) & ~3u;
}

var<workgroup> lw_a: array<$item, lw_depth * lw_rows * 4u>;    // [k][m]
var<workgroup> lw_b: array<$item, lw_depth * lw_columns * 4u>; // [k][n]

// Loads the strips for indices k .. k + lw_depth - 1 along k, up to `end`, for the tile whose first row and column are
// m and n.
fn lw_load_strips(base: vec4<u32>, m: u32, n: u32, k: u32, end: u32, invocation: u32) {
    let group = lw_rows * lw_columns;
    for (var i = invocation; i < lw_depth * lw_rows * 4u; i += group) {
        let row = m + i / lw_depth;
        let along = k + i % lw_depth;
        var item = $item();
        if (row < lw.m && along < end) {
            let at = base + row * lw.row_strides + along * lw.column_strides;
            item = $load_a;
        }
        lw_a[(i % lw_depth) * lw_rows * 4u + i / lw_depth] = item;
    }
    let width = lw_columns * 4u;
    for (var i = invocation; i < lw_depth * width; i += group) {
        let column = n + i % width;
        let along = k + i / width;
        var item = $item();
        if (column < lw.n && along < end) {
            let at = base + along * lw.row_strides + column * lw.column_strides;
            item = $load_b;
        }
        lw_b[i] = item;
    }
}

// Multiplies parts of A and B: indices begin .. end - 1 along k. Returns the 4 x 4 elements of an invocation. They lie
// lw_rows apart along m and lw_columns apart along n, so that neighboring invocations store to neighboring addresses.
fn lw_multiply(base: vec4<u32>, m: u32, n: u32, begin: u32, end: u32, invocation: u32) -> array<vec4<$item>, 4> {
    let y = invocation / lw_columns;
    let x = invocation % lw_columns;
    var acc = array<vec4<$item>, 4>();
    for (var k = begin; k < end; k += lw_depth) {
        lw_load_strips(base, m, n, k, end, invocation);
        workgroupBarrier();
        for (var d = 0u; d < lw_depth; d += 1u) {
            let b = d * lw_columns * 4u + x;
            let right =
                vec4<$item>(lw_b[b], lw_b[b + lw_columns], lw_b[b + 2u * lw_columns], lw_b[b + 3u * lw_columns]);
            let a = d * lw_rows * 4u + y;
            acc[0] += lw_a[a] * right;
            acc[1] += lw_a[a + lw_rows] * right;
            acc[2] += lw_a[a + 2u * lw_rows] * right;
            acc[3] += lw_a[a + 3u * lw_rows] * right;
        }
        workgroupBarrier();
    }
    return acc;
}

@compute @workgroup_size(lw_columns, lw_rows)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i);
        for (var m = group.y * lw_rows * 4u; m < lw.m; m += groups.y * lw_rows * 4u) {
            for (var n = group.x * lw_columns * 4u; n < lw.n; n += groups.x * lw_columns * 4u) {
                var acc = lw_multiply(base, m, n, 0u, lw.k, invocation);
                for (var e = 0u; e < 16u; e += 1u) {
                    let row = m + invocation / lw_columns + e / 4u * lw_rows;
                    let column = n + invocation % lw_columns + e % 4u * lw_columns;
                    if (row < lw.m && column < lw.n) {
                        let at = base + row * lw.row_strides + column * lw.column_strides;
                        let product = acc[e / 4u][e % 4u];
                        $store;
                    }
                }
            }
        }
    }
}

@compute @workgroup_size(lw_columns, lw_rows)
fn blocks(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch * lw.parts; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i / lw.parts);
        let begin = i % lw.parts * lw.depth;
        let end = min(lw.k, begin + lw.depth);
        for (var m = group.y * lw_rows * 4u; m < lw.m; m += groups.y * lw_rows * 4u) {
            for (var n = group.x * lw_columns * 4u; n < lw.n; n += groups.x * lw_columns * 4u) {
                var acc = lw_multiply(base, m, n, begin, end, invocation);
                for (var e = 0u; e < 16u; e += 1u) {
                    let row = m + invocation / lw_columns + e / 4u * lw_rows;
                    let column = n + invocation % lw_columns + e % 4u * lw_columns;
                    if (row < lw.m && column < lw.n) {
                        scratch_buffer[(i * lw.m + row) * lw_pitch() + column] = acc[e / 4u][e % 4u];
                    }
                }
            }
        }
    }
}

@compute @workgroup_size(lw_columns, lw_rows)
fn combine(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let size = lw.m * lw.n;
    let step = groups.x * lw_columns * lw_rows;
    for (var i = group.x * lw_columns * lw_rows + invocation; i < lw.batch * size; i += step) {
        let index = i / size;
        let row = i % size / lw.n;
        let column = i % lw.n;
        var product = $item();
        for (var part = 0u; part < lw.parts; part += 1u) {
            product += scratch_buffer[((index * lw.parts + part) * lw.m + row) * lw_pitch() + column];
        }
        let base = lw.offsets + lw_batch_offsets(index);
        let at = base + row * lw.row_strides + column * lw.column_strides;
        $store;
    }
}
