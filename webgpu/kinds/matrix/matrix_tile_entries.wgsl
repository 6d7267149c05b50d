// For matrix_tile.wgsl: the entry points. The declarations of matrix_tile.wgsl are the same for all operations.
@compute @workgroup_size($invocations)
fn tiles_$tile(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3<u32>,
               @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i);
        for (var m = group.y * ${rows}u; m < lw.m; m += groups.y * ${rows}u) {
            for (var n = group.x * ${columns}u; n < lw.n; n += groups.x * ${columns}u) {
                lw_store_tile_$tile(base, m, n, t, lw_multiply_$tile(base, m, n, 0u, lw.k, t));
            }
        }
    }
}

@compute @workgroup_size($invocations)
fn tile_parts_$tile(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3<u32>,
                    @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = group.z; i < lw.batch * lw.parts; i += groups.z) {
        let base = lw.offsets + lw_batch_offsets(i / lw.parts);
        let begin = i % lw.parts * lw.depth;
        let end = min(lw.k, begin + lw.depth);
        for (var m = group.y * ${rows}u; m < lw.m; m += groups.y * ${rows}u) {
            for (var n = group.x * ${columns}u; n < lw.n; n += groups.x * ${columns}u) {
                lw_store_parts_$tile(i, m, n, t, lw_multiply_$tile(base, m, n, begin, end, t));
            }
        }
    }
}
