// For matrix.wgsl: matrices of float32 whose rows are contiguous and start at multiples of 16 bytes, where n and k are
// multiples of 4; B may be transposed. A workgroup of 64 invocations computes a tile of 64 x 64 elements of C, 8 x 8
// per invocation, from strips of 16 along k. While it multiplies two strips, it loads the next ones into registers.
// Rows and columns beyond the edges are clamped; what is computed there is not stored. The steps along k are written
// out, because drivers do not unroll loops.
override lw_transposed: u32 = 0u; // whether B is [n][k] in memory
const lw_strip = 16u;

@group(0) @binding(0) var<storage, read> ${a}_vectors: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ${b}_vectors: array<vec4<f32>>;
@group(0) @binding($out_binding) var<storage, read_write> out_vectors: array<vec4<f32>>;
@group(0) @binding($scratch_binding) var<storage, read_write> scratch_vectors: array<vec4<f32>>;

var<workgroup> lw_tile_a: array<array<vec4<f32>, 16>, 16>; // [k][m / 4]
var<workgroup> lw_tile_b: array<array<vec4<f32>, 16>, 16>; // [k][n / 4]

// Four elements along k of a strip, zeros from `end` on.
fn lw_strip_a(place: u32, k: u32, end: u32) -> vec4<f32> {
    if (k >= end) {
        return vec4<f32>();
    }
    return ${a}_vectors[place + k / 4u];
}

fn lw_strip_b(place: u32, k: u32, end: u32) -> vec4<f32> {
    if (k >= end) {
        return vec4<f32>();
    }
    return ${b}_vectors[place + k / 4u];
}

// Four elements along n of row k of B.
fn lw_row_b(place: u32, k: u32, end: u32) -> vec4<f32> {
    if (k >= end) {
        return vec4<f32>();
    }
    return ${b}_vectors[place + k * (lw.row_strides.y >> 4u)];
}

struct LwTile {
    $rows
}

fn lw_multiply_tiles(base: vec4<u32>, m: u32, n: u32, begin: u32, end: u32, invocation: u32) -> LwTile {
    var c = LwTile();
    let x = invocation % 8u;
    let y = invocation / 8u;
    // an invocation loads a row of the strip of A, and of B if that is transposed
    let a_place = (base.x + min(m + invocation, lw.m - 1u) * lw.row_strides.x) >> 4u;
    let bt_place = (base.y + min(n + invocation, lw.n - 1u) * lw.column_strides.y) >> 4u;
    let b_place = (base.y >> 4u) + min(n / 4u + invocation % 16u, lw.n / 4u - 1u);
    let b_row = invocation / 16u;
    var k = begin;
    $registers
    $fetch
    for (; k < end; ) {
        workgroupBarrier();
        $put
        workgroupBarrier();
        k += lw_strip;
        $fetch
        $multiply
    }
    return c;
}

@compute @workgroup_size(64)
fn tiles(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i);
        for (var m = group.y * 64u; m < lw.m; m += groups.y * 64u) {
            for (var n = group.x * 64u; n < lw.n; n += groups.x * 64u) {
                let c = lw_multiply_tiles(base, m, n, 0u, lw.k, invocation);
                let row = m + invocation / 8u * 8u;
                let column = n + invocation % 8u * 8u;
                $store_rows
            }
        }
    }
}

// Four elements of a row of the result, from the products.
fn lw_store_four(base: vec4<u32>, row: u32, column: u32, products: vec4<f32>) {
    if (row < lw.m && column < lw.n) {
        let at = base + row * lw.row_strides + column * lw.column_strides;
        $finish
        out_vectors[at.$component >> 4u] = value;
    }
}

@compute @workgroup_size(64)
fn tile_parts(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
              @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch * lw.parts; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i / lw.parts);
        let begin = i % lw.parts * lw.depth;
        let end = min(lw.k, begin + lw.depth);
        for (var m = group.y * 64u; m < lw.m; m += groups.y * 64u) {
            for (var n = group.x * 64u; n < lw.n; n += groups.x * 64u) {
                let c = lw_multiply_tiles(base, m, n, begin, end, invocation);
                let row = m + invocation / 8u * 8u;
                let column = n + invocation % 8u * 8u;
                $store_parts
            }
        }
    }
}

fn lw_store_part(i: u32, row: u32, column: u32, products: vec4<f32>) {
    if (row < lw.m && column < lw.n) {
        scratch_vectors[((i * lw.m + row) * lw.n + column) / 4u] = products;
    }
}
