// For matrix.wgsl: matrices of float32, where C has few rows or columns. A team of invocations computes a dot product:
// an element of C, or of the product of a part. A workgroup has 256 invocations. If k is split, `sums` adds the parts:
// those of an element are next to each other.
var<workgroup> lw_team_sums: array<f32, 256>;

// The number of invocations of a team: 1, 8 or 64.
fn lw_team_size() -> u32 {
    return 1u << (lw_access >> lw_team_shift);
}

// Returns the sum of what the members of a team have to the first member. All invocations of the workgroup have to call
// it.
fn lw_team_sum(value: f32, invocation: u32) -> f32 {
    var sum = value;
    if (lw_team_size() > 1u) {
        workgroupBarrier();
        lw_team_sums[invocation] = value;
        workgroupBarrier();
        for (var half = lw_team_size() / 2u; half > 0u; half /= 2u) {
            if (invocation % lw_team_size() < half) {
                sum += lw_team_sums[invocation + half];
                lw_team_sums[invocation] = sum;
            }
            workgroupBarrier();
        }
    }
    return sum;
}

// Returns what a member computes of the dot product of `count` elements of a row of A and a column of B.
fn lw_dot_part(a: u32, b: u32, count: u32, member: u32) -> f32 {
    let size = lw_team_size();
    let a_step = lw.column_strides.x;
    let b_step = lw.row_strides.y;
    let a_others = vec3<u32>(1u, 2u, 3u) * a_step;
    let b_others = vec3<u32>(1u, 2u, 3u) * b_step;
    let end = count / 4u;
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var i = member;
    for (; i + size * 7u < end; i += size * 8u) {
        $load_eight
        $add_eight
    }
    for (; i < end; i += size) {
        sum0 += lw_vector_of_a(a + 4u * i * a_step, a_others) * lw_vector_of_b(b + 4u * i * b_step, b_others);
    }
    for (var last = 4u * end + member; last < count; last += size) {
        sum0.x += lw_element_of_a(a + last * a_step) * lw_element_of_b(b + last * b_step);
    }
    sum0 += sum1;
    return (sum0.x + sum0.y) + (sum0.z + sum0.w);
}

@compute @workgroup_size(256)
fn dots(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let teams = 256u / lw_team_size();
    let team = invocation / lw_team_size();
    let member = invocation % lw_team_size();
    let size = lw.m * lw.n;
    let count = lw.count * lw.parts;
    for (var first = group.x * teams; first < count; first += groups.x * teams) {
        let i = min(first + team, count - 1u);
        let element = i / lw.parts;
        let row = element % size / lw.n;
        let column = element % size % lw.n;
        let base = lw.offsets + lw_batch_offsets(element / size);
        let at = base + row * lw.row_strides + column * lw.column_strides;
        let begin = i % lw.parts * lw.depth;
        let a = base.x + row * lw.row_strides.x + begin * lw.column_strides.x;
        let b = base.y + column * lw.column_strides.y + begin * lw.row_strides.y;
        let product = lw_team_sum(lw_dot_part(a, b, min(lw.depth, lw.k - begin), member), invocation);
        if (member == 0u && first + team < count) {
            if (lw.parts > 1u) {
                scratch_buffer[i] = product;
            } else {
                $store;
            }
        }
    }
}

@compute @workgroup_size(256)
fn sums(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let teams = 256u / lw_team_size();
    let team = invocation / lw_team_size();
    let member = invocation % lw_team_size();
    let size = lw.m * lw.n;
    for (var first = group.x * teams; first < lw.count; first += groups.x * teams) {
        let element = min(first + team, lw.count - 1u);
        var sum = 0.0;
        for (var part = member; part < lw.parts; part += lw_team_size()) {
            sum += scratch_buffer[element * lw.parts + part];
        }
        let product = lw_team_sum(sum, invocation);
        if (member == 0u && first + team < lw.count) {
            let row = element % size / lw.n;
            let column = element % size % lw.n;
            let at = lw.offsets + lw_batch_offsets(element / size) + row * lw.row_strides + column * lw.column_strides;
            $store;
        }
    }
}
