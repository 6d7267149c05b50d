// C[m, n] = A[m, k] B[k, n] for every index of the batch; then the operation's function, which may add a bias, replaces
// each element of C. A workgroup computes a tile of C, 4 x 4 elements per invocation, from strips of A and B that it
// loads into workgroup memory. Beyond the edges of A and B, both strips hold zeros, because zero in only one strip
// times an infinity or NaN in the other would be NaN. Workgroups take tiles with a grid stride, so any size runs in one
// dispatch.
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
    absent: u32,               // bit n is set if operand n is absent
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

var<workgroup> lw_a: array<$item, lw_depth * lw_rows * 4u>;    // [k][m]
var<workgroup> lw_b: array<$item, lw_depth * lw_columns * 4u>; // [k][n]

// Loads the strips for indices k .. k + lw_depth - 1 along k, for the tile whose first row and column are m and n.
fn lw_load_strips(base: vec4<u32>, m: u32, n: u32, k: u32, invocation: u32) {
    let group = lw_rows * lw_columns;
    for (var i = invocation; i < lw_depth * lw_rows * 4u; i += group) {
        let row = m + i / lw_depth;
        let along = k + i % lw_depth;
        var item = $item();
        if (row < lw.m && along < lw.k) {
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
        if (column < lw.n && along < lw.k) {
            let at = base + along * lw.row_strides + column * lw.column_strides;
            item = $load_b;
        }
        lw_b[i] = item;
    }
}

// Computes a tile of C. The 4 x 4 elements of an invocation lie lw_rows apart along m and lw_columns apart along n, so
// that neighboring invocations store to neighboring addresses.
fn lw_multiply_tile(base: vec4<u32>, m: u32, n: u32, invocation: u32) {
    let y = invocation / lw_columns;
    let x = invocation % lw_columns;
    var acc = array<vec4<$item>, 4>();
    for (var k = 0u; k < lw.k; k += lw_depth) {
        lw_load_strips(base, m, n, k, invocation);
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
    for (var i = 0u; i < 4u; i += 1u) {
        for (var j = 0u; j < 4u; j += 1u) {
            let row = m + y + i * lw_rows;
            let column = n + x + j * lw_columns;
            if (row < lw.m && column < lw.n) {
                let at = base + row * lw.row_strides + column * lw.column_strides;
                let product = acc[i][j];
                $store;
            }
        }
    }
}

@compute @workgroup_size(lw_columns, lw_rows)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i);
        for (var m = group.y * lw_rows * 4u; m < lw.m; m += groups.y * lw_rows * 4u) {
            for (var n = group.x * lw_columns * 4u; n < lw.n; n += groups.x * lw_columns * 4u) {
                lw_multiply_tile(base, m, n, invocation);
            }
        }
    }
}
