// For matrix.wgsl: matrices of float32, where A has up to four rows, and B is read along n. A workgroup computes 32
// columns of C, or of the product of a part: 8 invocations have 4 columns each, and 32 of them share k. `combine` adds
// the parts, if there are several.
const lw_spread = 32u;
var<workgroup> lw_column_sums: array<array<vec4<f32>, 256>, 4>;

@compute @workgroup_size(256)
fn columns(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let a_step = lw_spread * lw.column_strides.x;
    let b_step = lw_spread * lw.row_strides.y;
    let last = max(lw.m, 1u) - 1u;
    let others = vec3<u32>(min(1u, last), min(2u, last), last) * lw.row_strides.x; // of further rows, or the last row
    for (var i = group.z; i < lw.batch * lw.parts; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i / lw.parts);
        let begin = i % lw.parts * lw.depth;
        let end = min(lw.k, begin + lw.depth);
        for (var first = group.x * 32u; first < lw.n; first += groups.x * 32u) {
            let column = first + invocation % 8u * 4u;
            var sum0 = vec4<f32>();
            var sum1 = sum0;
            var sum2 = sum0;
            var sum3 = sum0;
            var k = begin + invocation / 8u;
            var a = base.x + k * lw.column_strides.x;
            let nearest = min(column, lw.n - 1u);
            let b_others =
                (min(nearest + vec3<u32>(1u, 2u, 3u), vec3<u32>(lw.n - 1u)) - nearest) * lw.column_strides.y;
            var b = base.y + k * lw.row_strides.y + nearest * lw.column_strides.y;
            for (; k + 7u * lw_spread < end; k += 8u * lw_spread) {
                $row_loads
                $row_sums
                a += 8u * a_step;
                b += 8u * b_step;
            }
            for (; k < end; k += lw_spread) {
                let b0 = lw_vector_of_b(b, b_others);
                $one_sums
                a += a_step;
                b += b_step;
            }
            lw_column_sums[0][invocation] = sum0;
            lw_column_sums[1][invocation] = sum1;
            lw_column_sums[2][invocation] = sum2;
            lw_column_sums[3][invocation] = sum3;
            workgroupBarrier();
            for (var half = 128u; half > 4u; half /= 2u) {
                if (invocation < half) {
                    for (var row = 0u; row < lw.m; row += 1u) {
                        lw_column_sums[row][invocation] += lw_column_sums[row][invocation + half];
                    }
                }
                workgroupBarrier();
            }
            if (invocation < 32u && first + invocation < lw.n) {
                for (var row = 0u; row < lw.m; row += 1u) {
                    let product = lw_column_sums[row][invocation / 4u][invocation % 4u];
                    if (lw.parts > 1u) {
                        scratch_buffer[(i * lw.m + row) * lw_pitch() + first + invocation] = product;
                    } else {
                        let at = base + row * lw.row_strides + (first + invocation) * lw.column_strides;
                        $store;
                    }
                }
            }
            workgroupBarrier();
        }
    }
}
