// Slides a window over images (N, C, H, W). An invocation computes one element of the result after another, each from
// the elements in the window at its position. Those outside the image are left out, or 0 if there is a weight: an
// infinite weight gives NaN there, as on the CPU.
override lw_group: u32 = 256u;

struct LwWindowLayout {
    offsets: vec4<u32>,                // of x, the weight and the bias if there are any, and the result
    scalars: vec4<u32>,                // bits of the operation's parameters
    strides: array<vec4<u32>, 4>,      // of all operands along N, C, H and W, or O, I, H and W; of a bias along x
    in_size: vec2<u32>,                // height and width
    out_size: vec2<u32>,
    kernel_size: vec2<u32>,
    stride: vec2<u32>,
    padding: vec2<u32>,
    dilation: vec2<u32>,
    out_channels: u32,
    channels: u32,                     // input channels that an output channel depends on
    outputs: u32,                      // output channels that depend on the same input channels
    count: u32,                        // number of elements of the result
}

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        let row = i / lw.out_size.y;
        let channel = row / lw.out_size.x;
        let image = channel / lw.out_channels;
        let place = vec4<u32>(image, channel % lw.out_channels, row % lw.out_size.x, i % lw.out_size.y);
        let first = place.y / lw.outputs * lw.channels;
        let corner = place.zw * lw.stride - lw.padding;
        var acc = $identity;
        var inside = 0u;
        for (var c = 0u; c < lw.channels; c += 1u) {
            for (var p = 0u; p < lw.kernel_size.x; p += 1u) {
                let y = corner.x + p * lw.dilation.x;
                for (var q = 0u; q < lw.kernel_size.y; q += 1u) {
                    let x = corner.y + q * lw.dilation.y;
                    let at = lw.offsets + vec4<u32>(
                        dot(vec4<u32>(image, first + c, y, x), lw.strides[0]),
                        dot(vec4<u32>(place.y, c, p, q), lw.strides[1]),
                        0u, 0u
                    );
                    let is_inside = y < lw.in_size.x && x < lw.in_size.y;
                    $skip
                    acc = $combine;
                    inside += 1u;
                }
            }
        }
        let at = lw.offsets + vec4<u32>(0u, 0u, place.y * lw.strides[2].x, 0u);
        let value = $finish;
        out_buffer[(lw.offsets.$component + dot(place, lw.strides[$result])) >> 2u] = value;
    }
}
