// The layout of strided operands. The parameters of a dispatch are padded to 256 bytes, the largest alignment of
// dynamic offsets that an adapter may require, so that one uniform buffer can hold the parameters of many dispatches.
// Component n of `offsets` and of each vector in `strides` belongs to operand n: inputs first, then the result. Offsets
// and strides are in bytes, modulo 2^32, so negative strides work.
struct LwLayout {
    offsets: vec4<u32>,
    scalars: vec4<u32>,            // bits of the operation's parameters
    shape: array<vec4<u32>, 2>,    // extent of dimension d: shape[d / 4][d % 4]
    strides: array<vec4<u32>, 8>,  // strides of all operands along each dimension
    count: u32,                    // number of elements of the result
    packed: u32,                   // words of a row of an elementwise result of 1 or 2 bytes, 0 if they are scattered
    outer: u32,                    // number of the result's dimensions; dimensions outer .. ndim - 1 are reduced
    ndim: u32,
    length: u32,                   // number of elements that are reduced to one
    blocks: u32,                   // number of blocks of 4096 elements in `length`
    number_x: vec2<u32>,           // the element that operand 0 consists of, if it is a number
    number_y: vec2<u32>,
    number_z: vec2<u32>,
    teams: u32,                    // number of neighboring blocks whose results `vectors` combines, 1 without it;
                                   // in prefix sums, how many times a workgroup scans tiles of a block; in rows, the
                                   // stage
    team: u32,                     // number of invocations that share a block; in prefix sums, of tiles of a row
                                   // that a workgroup scans at once; in rows, of elements of a part
    pitch: u32,                    // distance between two invocations that share a block, or a tile
}

// Where the elements of input n are, in bits 2n and 2n + 1: 0 in its own buffer, 1 in the parameters, as a number, 2 in
// the buffer of the result, 3 nowhere, as it is absent. WebGPU does not allow binding one buffer both for reading and
// for writing, so an input that shares its buffer with the result is read through the result's binding.
override lw_sources: u32 = 0u;

// Returns each operand's byte offset from its first element to element `i`, counted in row-major order over dimensions
// begin .. end - 1.
fn lw_element_offsets(i: u32, begin: u32, end: u32) -> vec4<u32> {
    var offsets = vec4<u32>();
    var remaining = i;
    for (var d = end; d > begin + 1u; ) {
        d -= 1u;
        let extent = lw.shape[d >> 2u][d & 3u];
        let slower = remaining / extent;
        offsets += (remaining - slower * extent) * lw.strides[d];
        remaining = slower;
    }
    return offsets + remaining * lw.strides[begin];
}

// Where an element of a quarter is, as elementwise.wgsl divides the result.
struct LwInQuarter {
    at: vec4<u32>, // the byte offsets of operands
    along: u32,    // the position in dimension `lw.outer`
}

fn lw_place_in_quarter(i: u32, ndim: u32) -> LwInQuarter {
    var place = LwInQuarter(lw.offsets, 0u);
    var remaining = i;
    for (var d = ndim; d > 1u; ) {
        d -= 1u;
        let extent = lw.shape[d >> 2u][d & 3u];
        let slower = remaining / extent;
        let own = remaining - slower * extent;
        place.at += own * lw.strides[d];
        place.along = select(place.along, own, d == lw.outer);
        remaining = slower;
    }
    return LwInQuarter(place.at + remaining * lw.strides[0], select(place.along, remaining, lw.outer == 0u));
}

// The position of an invocation in its team, and that of the team in the workgroup. `team` and `pitch` are powers of 2.
fn lw_member(invocation: u32) -> u32 {
    return (invocation >> firstTrailingBit(lw.pitch)) & (lw.team - 1u);
}

fn lw_own_team(invocation: u32) -> u32 {
    let own = (invocation >> firstTrailingBit(lw.pitch * lw.team)) << firstTrailingBit(lw.pitch);
    return own + (invocation & (lw.pitch - 1u));
}

var<workgroup> lw_raised: atomic<u32>;
var<workgroup> lw_is_raised: u32;

// Returns whether the flag of any invocation of the workgroup is set. All invocations have to call it, and may then
// read what the others had written to workgroup memory.
fn lw_is_any(flag: bool, invocation: u32) -> bool {
    if (flag) {
        atomicStore(&lw_raised, 1u);
    }
    workgroupBarrier();
    if (invocation == 0u) {
        lw_is_raised = atomicExchange(&lw_raised, 0u);
    }
    return workgroupUniformLoad(&lw_is_raised) != 0u;
}
