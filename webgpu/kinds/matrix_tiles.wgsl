// For matrix.wgsl: matrices of float32 whose rows, or columns, are contiguous and start at multiples of 16 bytes. A
// workgroup of 128 invocations computes a tile of 64 x 128 elements of C, 8 x 8 per invocation, from strips of 8 along
// k. There are two strips in workgroup memory: while one is multiplied, the next one is loaded into registers, then put
// into the other. A row of a strip has one vector more than it needs: so the elements that neighboring invocations put
// along k are in different banks. The steps along k are written out, and the strips are numbered by constants, because
// drivers neither unroll loops nor hoist the bounds checks of a variable number.
//
// Rows and columns beyond the edges are clamped; what is computed there is not stored. If k is not a multiple of 8, the
// first strip is shorter, so that no other one needs a check.
override lw_transposed: u32 = 0u; // 1 if B is [n][k] in memory, plus 2 if A is [k][m]

@group(0) @binding(0) var<storage, read> ${a}_vectors: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ${b}_vectors: array<vec4<f32>>;
@group(0) @binding($out_binding) var<storage, read_write> out_vectors: array<vec4<f32>>;
@group(0) @binding($scratch_binding) var<storage, read_write> scratch_vectors: array<vec4<f32>>;

var<workgroup> lw_tile_a: array<array<array<vec4<f32>, 17>, 8>, 2>; // [strip][k][m / 4]
var<workgroup> lw_tile_b: array<array<array<vec4<f32>, 33>, 8>, 2>; // [strip][k][n / 4]

struct LwTile {
    $rows
}

// The vectors that an invocation loads of each strip, one of A and two of B: where they are, how far apart those of B
// are, and how far it is to the next 4 indices along k, which is half a strip.
struct LwPlaces {
    a: u32,
    b: u32,
    b_next: u32,
    a_four: u32,
    b_four: u32,
}

// A stride in vectors. It may be negative.
fn lw_in_vectors(stride: u32) -> u32 {
    return bitcast<u32>(bitcast<i32>(stride) >> 4u);
}

fn lw_places(base: vec4<u32>, m: u32, n: u32, k: u32, t: u32) -> LwPlaces {
    var places: LwPlaces;
    if ((lw_transposed & 2u) == 0u) {
        places.a = ((base.x + min(m + t / 2u, lw.m - 1u) * lw.row_strides.x) >> 4u) + k / 4u + t % 2u;
        places.a_four = 1u;
    } else {
        let stride = lw_in_vectors(lw.column_strides.x);
        places.a = (base.x >> 4u) + min(m / 4u + t % 16u, lw.m / 4u - 1u) + (k + t / 16u) * stride;
        places.a_four = 4u * stride;
    }
    if ((lw_transposed & 1u) == 0u) {
        let stride = lw_in_vectors(lw.row_strides.y);
        places.b = (base.y >> 4u) + min(n / 4u + t % 32u, lw.n / 4u - 1u) + (k + t / 32u) * stride;
        places.b_next = 4u * stride;
        places.b_four = 4u * stride;
    } else {
        let column = min(n + t / 2u, lw.n - 1u);
        let next = min(n + t / 2u + 64u, lw.n - 1u);
        places.b = ((base.y + column * lw.column_strides.y) >> 4u) + k / 4u + t % 2u;
        places.b_next = (next - column) * lw_in_vectors(lw.column_strides.y);
        places.b_four = 1u;
    }
    return places;
}

// Multiplies indices begin .. end - 1 along k.
fn lw_multiply_tiles(base: vec4<u32>, m: u32, n: u32, begin: u32, end: u32, t: u32) -> LwTile {
    var c = LwTile();
    let x = t % 16u;
    let y = t / 16u;
    let strips = (end - begin + 7u) / 8u;
    let first = end - begin - 8u * (strips - 1u); // extent of the first strip: 4 or 8
    let places = lw_places(base, m, n, begin, t);
    let a_step = 2u * places.a_four;
    let b_step = 2u * places.b_four;
    var a_at = places.a;
    var b_at = places.b;
    let a_k = select(4u * (t % 2u), t / 16u, (lw_transposed & 2u) != 0u);
    let b_k = select(vec2<u32>(t / 32u, t / 32u + 4u), vec2<u32>(4u * (t % 2u)), (lw_transposed & 1u) != 0u);
    var a = select(vec4<f32>(), ${a}_vectors[a_at], a_k < first);
    var b0 = select(vec4<f32>(), ${b}_vectors[b_at], b_k.x < first);
    var b1 = select(vec4<f32>(), ${b}_vectors[b_at + places.b_next], b_k.y < first);
    if (strips > 1u) {
        a_at += places.a_four * (first / 4u);
        b_at += places.b_four * (first / 4u);
    }
    $put_0
    workgroupBarrier();
    for (var strip = 2u; strip < strips + 2u; strip += 2u) { // the last vectors are loaded twice, not to branch
        let is_there = strip <= strips;
        a = select(vec4<f32>(), ${a}_vectors[a_at], is_there);
        b0 = select(vec4<f32>(), ${b}_vectors[b_at], is_there);
        b1 = select(vec4<f32>(), ${b}_vectors[b_at + places.b_next], is_there);
        $multiply_0
        a_at += select(0u, a_step, strip < strips);
        b_at += select(0u, b_step, strip < strips);
        $put_1
        workgroupBarrier();
        a = ${a}_vectors[a_at];
        b0 = ${b}_vectors[b_at];
        b1 = ${b}_vectors[b_at + places.b_next];
        $multiply_1
        a_at += select(0u, a_step, strip + 1u < strips);
        b_at += select(0u, b_step, strip + 1u < strips);
        $put_0
        workgroupBarrier();
    }
    return c;
}

@compute @workgroup_size(128)
fn tiles(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i);
        for (var m = group.y * 64u; m < lw.m; m += groups.y * 64u) {
            for (var n = group.x * 128u; n < lw.n; n += groups.x * 128u) {
                let c = lw_multiply_tiles(base, m, n, 0u, lw.k, t);
                let row = m + t / 16u * 4u;
                let column = n + t % 16u * 4u;
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

@compute @workgroup_size(128)
fn tile_parts(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3<u32>,
              @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch * lw.parts; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i / lw.parts);
        let begin = i % lw.parts * lw.depth;
        let end = min(lw.k, begin + lw.depth);
        for (var m = group.y * 64u; m < lw.m; m += groups.y * 64u) {
            for (var n = group.x * 128u; n < lw.n; n += groups.x * 128u) {
                let c = lw_multiply_tiles(base, m, n, begin, end, t);
                let row = m + t / 16u * 4u;
                let column = n + t % 16u * 4u;
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

// Adds the parts, four elements at a time.
@compute @workgroup_size(256)
fn vectors(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let size = lw.m * lw.n / 4u;
    for (var i = id.x; i < lw.count / 4u; i += groups.x * 256u) {
        let index = i / size;
        let element = i % size;
        var products = vec4<f32>();
        for (var part = 0u; part < lw.parts; part += 1u) {
            products += scratch_vectors[(index * lw.parts + part) * size + element];
        }
        let row = element / (lw.n / 4u);
        lw_store_four(lw.offsets + lw_batch_offsets(index), row, 4u * (element - row * (lw.n / 4u)), products);
    }
}
