// For window.wgsl, with a weight: convolution as a matrix product (implicit im2col). A is the weight of a group,
// [output channel][k], and B[k][position] the elements of x that the positions of the result read, where k counts the
// channels and the kernel's elements. A workgroup computes 64 channels x 64 positions, 8 x 8 per invocation, from
// strips of 16 along k, and loads the next strip into registers while it multiplies one. The positions are those of all
// images. Rows and columns beyond the edges are not stored. If there are few tiles, k is divided into parts.
struct LwTile {
    $rows
}

var<workgroup> lw_tile_a: array<array<vec4<f32>, 17>, 16>; // [k][channel / 4]; 17 avoids bank conflicts
var<workgroup> lw_tile_b: array<array<vec4<f32>, 16>, 16>; // [k][position / 4]
var<workgroup> lw_taps: array<vec4<u32>, 16>;              // of the next strip

// Byte offsets of element k in x and in the weight, and its distance from the corner of the window; beyond the last k,
// a distance that is outside every image.
fn lw_tap(k: u32) -> vec4<u32> {
    let size = lw.kernel_size.x * lw.kernel_size.y;
    let place = vec3<u32>(k / size, k % size / lw.kernel_size.y, k % size % lw.kernel_size.y);
    let shift = place.yz * lw.dilation;
    let distance = select(vec2<u32>(0x80000000u), shift, place.x < lw.channels);
    return vec4<u32>(
        dot(vec3<u32>(place.x, shift), lw.strides[0].yzw), dot(place, lw.strides[1].yzw), distance
    );
}

fn lw_tap_value(corner: vec2<u32>, from_corner: u32, tap: vec4<u32>) -> f32 {
    if (all(corner + tap.zw < lw.in_size)) {
        return $load_x(from_corner + tap.x);
    }
    return 0.0;
}

fn lw_tap_weight(row: u32, tap: vec4<u32>) -> f32 {
    if (tap.z == 0x80000000u) {
        return 0.0;
    }
    return $load_weight(row + tap.y);
}

// The image, row and column of a position.
fn lw_position(i: u32) -> vec3<u32> {
    let row = i / lw.out_size.y;
    return vec3<u32>(row / lw.out_size.x, row % lw.out_size.x, i % lw.out_size.y);
}

// Stores four elements of one position.
fn lw_store_four(position: u32, group: u32, row: u32, products: vec4<f32>, part: u32) {
    if (position >= lw.count / lw.out_channels) {
        return;
    }
    let place = lw_position(position);
    for (var r = 0u; r < min(4u, max(row, lw.outputs) - row); r += 1u) {
        lw_finish_part(vec4<u32>(place.x, group * lw.outputs + row + r, place.yz), products[r], part);
    }
}

@compute @workgroup_size(64)
fn tiles(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let x = invocation % 8u;
    let y = invocation / 8u;
    let own_k = invocation % 16u; // of the elements of A that an invocation loads
    let a_row = invocation / 16u;
    let positions = lw.count / lw.out_channels;
    let depth = lw.channels * lw.kernel_size.x * lw.kernel_size.y;
    for (var unit = group.z; unit < lw.out_channels / lw.outputs * lw.parts; unit += groups.z) {
        let g = unit / lw.parts;
        let begin = unit % lw.parts * lw.part;
        let end = min(depth, begin + lw.part);
        for (var m = group.y * 64u; m < lw.outputs; m += groups.y * 64u) {
            for (var n = group.x * 64u; n < positions; n += groups.x * 64u) {
                var c = LwTile();
                let place = lw_position(n + invocation);
                let corner = place.yz * lw.stride - lw.padding;
                let from_corner = lw.offsets.x + dot(vec4<u32>(place.x, g * lw.channels, corner), lw.strides[0]);
                let a_place = lw.offsets.y + (g * lw.outputs + m + a_row) * lw.strides[1].x;
                var tap = lw_tap(begin + own_k);
                workgroupBarrier();
                if (invocation < 16u) {
                    lw_taps[invocation] = tap;
                }
                workgroupBarrier();
                $registers
                $fetch
                for (var k = begin; k < end; k += 16u) {
                    workgroupBarrier();
                    $put
                    tap = lw_tap(k + 16u + own_k);
                    if (invocation < 16u) {
                        lw_taps[invocation] = tap;
                    }
                    workgroupBarrier();
                    $fetch
                    $multiply
                }
                let row = m + 8u * y;
                let column = n + 4u * x;
                $store
            }
        }
    }
}
