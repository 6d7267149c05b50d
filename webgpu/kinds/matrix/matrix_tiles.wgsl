// For matrix.wgsl: matrices of float32. A workgroup computes a tile of C from strips of 8 along k, an invocation 8 rows
// of 8 or 16 columns. There is a matrix_tile.wgsl for each size of tiles, with matrix_tile_entries.wgsl.
//
// There are two strips in workgroup memory: while one is multiplied, the next one is loaded into registers, then put
// into the other. A row of a strip has one vector more than it needs: so the elements that neighboring invocations put
// along k are in different banks. The steps along k are written out, and the strips are numbered by constants, because
// drivers neither unroll loops nor hoist the bounds checks of a variable number.
//
// Rows and columns beyond the edges are clamped; what is computed there is not stored. If k is not a multiple of 8, the
// first strip is shorter, so that no other one needs a check.
@group(0) @binding($out_binding) var<storage, read_write> out_vectors: array<vec4<f32>>;
@group(0) @binding($scratch_binding) var<storage, read_write> scratch_vectors: array<vec4<f32>>;

// Stores four elements of a row of the result, from the products.
fn lw_store_four(base: vec4<u32>, row: u32, column: u32, products: vec4<f32>) {
    if (row < lw.m && column < lw.n) {
        let at = base + row * lw.row_strides + column * lw.column_strides;
        $finish
        out_vectors[at.$component >> 4u] = value;
    }
}

fn lw_store_part(i: u32, row: u32, column: u32, products: vec4<f32>) {
    if (row < lw.m && column < lw.n) {
        scratch_vectors[((i * lw.m + row) * lw_pitch() + column) / 4u] = products;
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
