// For reduction_vectors.wgsl, as reduction_scaled.wgsl. Not by lw_is_any(), with which the H200's driver takes 1.8
// times as long for var.
var<workgroup> lw_scales: array<vec4<f32>, lw_teams / 4u>;

fn lw_reduce_team(first: u32, start: u32, length: u32, invocation: u32) -> $accumulator {
    let team = invocation / 16u;
    var scale = 1.0;
    var result = $identity;
    for (var turn = 0u; turn < 2u; turn += 1u) {
        result = lw_reduce_vectors(first, start, length, scale, invocation);
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
