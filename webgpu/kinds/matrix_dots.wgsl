// For matrix.wgsl: matrices of float32 of which A has contiguous rows and B contiguous columns, where k is a multiple
// of 4, and C has few rows or columns. 64 invocations compute an element of C; a workgroup computes 4 elements at once.
const lw_dots = 4u;
var<workgroup> lw_dot_partials: array<array<f32, 64>, 4>;

// The part of a dot product that the invocation `member` of 64 computes.
fn lw_dot_part(a_place: u32, b_place: u32, member: u32) -> f32 {
    let end = lw.k / 4u;
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var i = member;
    for (; i + 64u * 7u < end; i += 64u * 8u) {
        $load_eight
        $add_eight
    }
    for (; i < end; i += 64u) {
        sum0 += ${a}_vectors[a_place + i] * ${b}_vectors[b_place + i];
    }
    sum0 += sum1;
    return (sum0.x + sum0.y) + (sum0.z + sum0.w);
}

@compute @workgroup_size(256)
fn dots(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let team = invocation / 64u;
    let member = invocation % 64u;
    let size = lw.m * lw.n;
    for (var first = group.x * lw_dots; first < lw.batch * size; first += groups.x * lw_dots) {
        let i = min(first + team, lw.batch * size - 1u);
        let row = i % size / lw.n;
        let column = i % size % lw.n;
        let base = lw.offsets + lw_batch_offsets(i / size);
        let a_place = (base.x + row * lw.row_strides.x) >> 4u;
        let b_place = (base.y + column * lw.column_strides.y) >> 4u;
        lw_dot_partials[team][member] = lw_dot_part(a_place, b_place, member);
        workgroupBarrier();
        for (var half = 32u; half > 0u; half /= 2u) {
            if (member < half) {
                lw_dot_partials[team][member] += lw_dot_partials[team][member + half];
            }
            workgroupBarrier();
        }
        if (member == 0u && first + team < lw.batch * size) {
            let at = base + row * lw.row_strides + column * lw.column_strides;
            let product = lw_dot_partials[team][0];
            $store;
        }
        workgroupBarrier();
    }
}
