// Rotates pairs of a row's elements by angles that are proportional to the row's position. The last two dimensions of
// the layout are the positions, and the elements of a row. An invocation rotates one pair after another.
override lw_group: u32 = 256u;

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let last = lw.ndim - 1u;
    let pairs = lw.shape[last >> 2u][last & 3u] / 2u;
    let positions = lw.shape[(last - 1u) >> 2u][(last - 1u) & 3u];
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        let row = i / pairs;
        let pair = i - row * pairs;
        let start = lw.offsets + lw_element_offsets(row, 0u, last);
        let places = $places(pair, pairs, lw.scalars.y);
        let first = start + places.x * lw.strides[last];
        let second = start + places.y * lw.strides[last];
        let rotated = $rotate($first, $second, pair, lw.scalars.x + row % positions, lw.number_x, lw.number_y);
        out_buffer[first.y >> 2u] = rotated.x;
        out_buffer[second.y >> 2u] = rotated.y;
    }
}
