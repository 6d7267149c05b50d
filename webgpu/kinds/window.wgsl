// Slides a window over images (N, C, H, W). An invocation computes an element of the result after another, or with a
// weight lw_outputs elements, of neighboring channels of a group, each from the elements in the window at its position.
// Those outside the image are left out, or 0 if there is a weight: an infinite weight gives NaN there, as on the CPU.
override lw_group: u32 = 256u;
// The taps along a row of the window that are loaded at once, up to 8, and from bit 4 on the outputs, up to 4.
override lw_taps_outputs: u32 = 17u;
override lw_taps_at_once: u32 = lw_taps_outputs & 15u;
override lw_outputs: u32 = lw_taps_outputs >> 4u;

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
    parts: u32,                        // into which the products of a weight are divided
    part: u32,                         // channels of a part, or products in tiles
    blocks: u32,                       // of lw_outputs channels in a group
    all_blocks: u32,                   // in all groups
    units: u32,                        // positions times blocks
}

// Stores what an element at (image, channel, row, column) of the result follows from.
fn lw_finish(place: vec4<u32>, acc: f32, inside: u32) {
    let at = lw.offsets + vec4<u32>(0u, 0u, place.y * lw.strides[2].x, 0u);
    out_buffer[(lw.offsets.$component + dot(place, lw.strides[$result])) >> 2u] = $finish;
}

$parts
@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var unit = id.x; unit < lw.units * lw.parts; unit += groups.x * lw_group) {
        var part = 0u;
        if (lw.parts > 1u) {
            part = unit / lw.units;
        }
        let i = unit - part * lw.units;
        let row = i / lw.out_size.y;
        let all_rows = row / lw.out_size.x;
        let image = all_rows / lw.all_blocks;
        let block = all_rows - image * lw.all_blocks;
        let group = block / lw.blocks;
        let channel = (block - group * lw.blocks) * lw_outputs;
        let y_x = vec2<u32>(row - all_rows * lw.out_size.x, i - row * lw.out_size.y);
        let place = vec4<u32>(image, group * lw.outputs + channel, y_x);
        let corner = place.zw * lw.stride - lw.padding;
        let begin = part * lw.part;
        let end = min(lw.channels, begin + lw.part);
        let x_step = lw.dilation.y * lw.strides[0].w;
        var at_channel = lw.offsets.x + dot(vec4<u32>(image, group * lw.channels + begin, corner), lw.strides[0]);
        $weight
        var acc = vec4<f32>($identity);
        var inside = 0u;
        for (var c = begin; c < end; c += 1u) {
            var at_row = at_channel;
            for (var p = 0u; p < lw.kernel_size.x; p += 1u) {
                let y = corner.x + p * lw.dilation.x;
                var at = vec4<u32>(at_row, $at_weight, 0u, 0u);
                for (var q = 0u; q < lw.kernel_size.y; q += lw_taps_at_once) {
                    $load
                    $combine
                    at.x += lw_taps_at_once * x_step;
                    $next
                }
                at_row += lw.dilation.x * lw.strides[0].z;
            }
            at_channel += lw.strides[0].y;
        }
        $store
    }
}
