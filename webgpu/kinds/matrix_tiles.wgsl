// For matrix.wgsl: matrices of float32. A workgroup of 128 invocations computes a tile of 64 x 128 elements of C, 8 x 8
// per invocation, from strips of 8 along k. There are two strips in workgroup memory: while one is multiplied, the next
// one is loaded into registers, then put into the other. A row of a strip has one vector more than it needs: so the
// elements that neighboring invocations put along k are in different banks. The steps along k are written out, and the
// strips are numbered by constants, because drivers neither unroll loops nor hoist the bounds checks of a variable
// number.
//
// Rows and columns beyond the edges are clamped; what is computed there is not stored. If k is not a multiple of 8, the
// first strip is shorter, so that no other one needs a check.
override lw_transposed: u32 = 0u; // 1 if vectors of B are along k, plus 2 if those of A are along m, plus 4 if elements
                                  // are not contiguous along vectors, or not at multiples of 16 bytes

@group(0) @binding(0) var<storage, read> ${a}_vectors: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ${b}_vectors: array<vec4<f32>>;
@group(0) @binding($out_binding) var<storage, read_write> out_vectors: array<vec4<f32>>;
@group(0) @binding($scratch_binding) var<storage, read_write> scratch_vectors: array<vec4<f32>>;

var<workgroup> lw_tile_a: array<array<array<vec4<f32>, 17>, 8>, 2>; // [strip][k][m / 4]
var<workgroup> lw_tile_b: array<array<array<vec4<f32>, 33>, 8>, 2>; // [strip][k][n / 4]

struct LwTile {
    $rows
}

// The vectors that an invocation loads of each strip, one of A and two of B: where their first elements are, in bytes,
// how far from these the others are, how far apart the vectors of B are, and how far it is to the next index along k.
struct LwPlaces {
    a: u32,
    b: u32,
    a_others: vec3<u32>,
    b_others: vec3<u32>,
    b_next: u32,
    a_step: u32,
    b_step: u32,
}

fn lw_places(base: vec4<u32>, m: u32, n: u32, k: u32, t: u32) -> LwPlaces {
    var places: LwPlaces;
    let others = vec3<u32>(1u, 2u, 3u);
    places.a_step = lw.column_strides.x;
    places.b_step = lw.row_strides.y;
    if ((lw_transposed & 2u) == 0u) {
        places.a = base.x + min(m + t / 2u, lw.m - 1u) * lw.row_strides.x + (k + t % 2u * 4u) * places.a_step;
        places.a_others = others * places.a_step;
    } else {
        let row = min(m + t % 16u * 4u, lw.m - 1u);
        places.a = base.x + row * lw.row_strides.x + (k + t / 16u) * places.a_step;
        places.a_others = (min(row + others, vec3<u32>(lw.m - 1u)) - row) * lw.row_strides.x;
    }
    if ((lw_transposed & 1u) == 0u) {
        let column = min(n + t % 32u * 4u, lw.n - 1u);
        places.b = base.y + column * lw.column_strides.y + (k + t / 32u) * places.b_step;
        places.b_others = (min(column + others, vec3<u32>(lw.n - 1u)) - column) * lw.column_strides.y;
        places.b_next = 4u * places.b_step;
    } else {
        let column = min(n + t / 2u, lw.n - 1u);
        places.b = base.y + column * lw.column_strides.y + (k + t % 2u * 4u) * places.b_step;
        places.b_others = others * places.b_step;
        places.b_next = (min(n + t / 2u + 64u, lw.n - 1u) - column) * lw.column_strides.y;
    }
    return places;
}

$load_a

$load_b

// Multiplies indices begin .. end - 1 along k.
fn lw_multiply_tiles(base: vec4<u32>, m: u32, n: u32, begin: u32, end: u32, t: u32) -> LwTile {
    var c = LwTile();
    let x = t % 16u;
    let y = t / 16u;
    let strips = (end - begin + 7u) / 8u;
    let first = end - begin - 8u * (strips - 1u); // extent of the first strip
    let places = lw_places(base, m, n, begin, t);
    let a_step = 8u * places.a_step;
    let b_step = 8u * places.b_step;
    var a_at = places.a;
    var b_at = places.b;
    let along = vec4<u32>(0u, 1u, 2u, 3u) + t % 2u * 4u;
    let a_k = select(along, vec4<u32>(t / 16u), (lw_transposed & 2u) != 0u);
    let b0_k = select(vec4<u32>(t / 32u), along, (lw_transposed & 1u) != 0u);
    let b1_k = select(vec4<u32>(t / 32u + 4u), along, (lw_transposed & 1u) != 0u);
    var a = select(vec4<f32>(), lw_vector_of_${a}(a_at, places.a_others), a_k < vec4<u32>(first));
    var b0 = select(vec4<f32>(), lw_vector_of_${b}(b_at, places.b_others), b0_k < vec4<u32>(first));
    var b1 = select(vec4<f32>(), lw_vector_of_${b}(b_at + places.b_next, places.b_others), b1_k < vec4<u32>(first));
    if (strips > 1u) {
        a_at += places.a_step * first;
        b_at += places.b_step * first;
    }
    $put_0
    workgroupBarrier();
    for (var strip = 2u; strip < strips + 2u; strip += 2u) { // the last vectors are loaded twice, not to branch
        let is_there = strip <= strips;
        a = select(vec4<f32>(), lw_vector_of_${a}(a_at, places.a_others), is_there);
        b0 = select(vec4<f32>(), lw_vector_of_${b}(b_at, places.b_others), is_there);
        b1 = select(vec4<f32>(), lw_vector_of_${b}(b_at + places.b_next, places.b_others), is_there);
        $multiply_0
        a_at += select(0u, a_step, strip < strips);
        b_at += select(0u, b_step, strip < strips);
        $put_1
        workgroupBarrier();
        a = lw_vector_of_${a}(a_at, places.a_others);
        b0 = lw_vector_of_${b}(b_at, places.b_others);
        b1 = lw_vector_of_${b}(b_at + places.b_next, places.b_others);
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
        scratch_vectors[(i * lw.m + row) * ((lw.n + 3u) / 4u) + column / 4u] = products;
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
