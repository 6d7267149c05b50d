// For reduction.wgsl: a block is reduced again, with its elements scaled, if its result shows that a sum was out of
// range. The result then says so to $combine_blocks. Loops, because lavapipe does not skip what is in an `if`.
fn lw_reduce_block(row: vec4<u32>, block: u32, invocation: u32) {
    var scale = 1.0;
    for (var turn = 0u; turn < 2u; turn += 1u) {
        lw_reduce_elements(row, block, scale, invocation);
        let next = $scale_of(workgroupUniformLoad(&lw_partial[0]));
        if (turn == 1u || next == 1.0) {
            break;
        }
        scale = next;
    }
    if (invocation == 0u) {
        lw_partial[0] = $block(lw_partial[0], scale);
    }
}

var<workgroup> lw_scales: array<vec4<f32>, lw_teams / 4u>;

// If one team has to reduce its block again, all do it, because of the barriers.
fn lw_reduce_team(first: u32, length: u32, invocation: u32) -> $accumulator {
    let team = invocation / 16u;
    var scale = 1.0;
    var result = $identity;
    for (var turn = 0u; turn < 2u; turn += 1u) {
        result = lw_reduce_vectors(first, length, scale, invocation);
        if (invocation % 16u == 0u) {
            lw_scales[team / 4u][team % 4u] = $scale_of(result);
        }
        let scales = workgroupUniformLoad(&lw_scales);
        let one = vec4<f32>(1.0);
        let is_done = all(scales[0] == one) && all(scales[1] == one) && all(scales[2] == one) && all(scales[3] == one);
        if (turn == 1u || is_done) {
            break;
        }
        scale = lw_scales[team / 4u][team % 4u];
    }
    return $block(result, scale);
}
