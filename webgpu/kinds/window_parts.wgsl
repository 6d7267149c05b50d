
// Stores what an element follows from, or keeps it for `combine`, if it is a part.
fn lw_finish_part(place: vec4<u32>, acc: f32, part: u32) {
    if (lw.parts == 1u) {
        lw_finish(place, acc, 0u);
    } else {
        let row = (place.x * lw.out_channels + place.y) * lw.out_size.x + place.z;
        scratch_buffer[part * lw.count + row * lw.out_size.y + place.w] = acc;
    }
}

// The image, channel, row and column of element i of the result in row-major order.
fn lw_place(i: u32) -> vec4<u32> {
    let row = i / lw.out_size.y;
    let channel = row / lw.out_size.x;
    return vec4<u32>(channel / lw.out_channels, channel % lw.out_channels, row % lw.out_size.x, i % lw.out_size.y);
}

// Adds the parts of each element.
@compute @workgroup_size(lw_group)
fn combine(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        var sum = 0.0;
        for (var part = 0u; part < lw.parts; part += 1u) {
            sum += scratch_buffer[part * lw.count + i];
        }
        lw_finish(lw_place(i), sum, 0u);
    }
}

