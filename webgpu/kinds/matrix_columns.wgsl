// For matrix.wgsl: A has up to four rows, B has contiguous rows that start at multiples of 16 bytes, and n is a
// multiple of 4. An invocation multiplies a part of four columns of B by the rows of A. `combine` adds the parts.
@compute @workgroup_size(64)
fn columns(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.z; i < lw.batch * lw.parts; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i / lw.parts);
        let begin = i % lw.parts * lw.depth;
        for (var four = id.x; 4u * four < lw.n; four += groups.x * 64u) {
            lw_multiply_columns(base, begin, min(lw.k, begin + lw.depth), i * lw.m, four);
        }
    }
}

fn lw_multiply_columns(base: vec4<u32>, begin: u32, end: u32, result: u32, four: u32) {
    let stride = lw_in_vectors(lw.row_strides.y);
    var place = (base.y >> 4u) + four + begin * stride;
    $sums
    var k = begin;
    for (; k + 8u <= end; k += 8u) {
        $load_eight
        $add_eight
        place += 8u * stride;
    }
    for (; k < end; k += 1u) {
        let b0 = ${b}_vectors[place];
        $add_one
        place += stride;
    }
    $store
}

fn lw_left(base: vec4<u32>, row: u32, along: u32) -> f32 {
    let at = base + row * lw.row_strides + along * lw.column_strides;
    return $load_a;
}
