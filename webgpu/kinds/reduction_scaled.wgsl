// For reduction.wgsl: a block is reduced again, with its elements scaled, if its result shows that a sum was out of
// range. The result then says so to $combine_blocks. If one team has to do so, all do it, because of the barriers.
// Loops, because lavapipe does not skip what is in an `if`.
fn lw_reduce_block(row: vec4<u32>, start: u32, end: u32, member: u32, invocation: u32) {
    let first = invocation - member * lw.pitch;
    var scale = 1.0;
    for (var turn = 0u; turn < 2u; turn += 1u) {
        lw_reduce_elements(row, start, end, scale, member, invocation);
        let next = $scale_of(lw_partial[first]);
        if (!lw_is_any(next != 1.0, invocation) || turn == 1u) {
            break;
        }
        scale = next;
    }
    if (member == 0u) {
        lw_partial[invocation] = $block(lw_partial[invocation], scale);
    }
}
