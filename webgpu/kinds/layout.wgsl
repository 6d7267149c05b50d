// What every kind over strided operands uses. All parameters of a dispatch are 16 vectors of 16 bytes, so that one
// uniform buffer holds those of a whole batch at offsets that are multiples of 256.
// Operand n is component n of a vector: inputs first, then the result. Offsets and strides are in bytes, modulo 2^32,
// so negative strides work.
struct LwLayout {
    offsets: vec4<u32>,
    scalars: vec4<u32>,            // the operation's parameters, as bits
    shape: array<vec4<u32>, 2>,    // extent of dimension d: shape[d / 4][d % 4]
    strides: array<vec4<u32>, 8>,  // per dimension
    count: u32,                    // elements of the result
    packed: u32,                   // 1 where the result's small items fill whole words one after another
    outer: u32,                    // dimensions of the result; the rest, up to ndim, are reduced
    ndim: u32,
    length: u32,                   // elements reduced into one
    blocks: u32,                   // of 4096 elements, that hold them
}

// How far element `i` of the dimensions begin .. end - 1, in row-major order, is from their first.
fn lw_walk(i: u32, begin: u32, end: u32) -> vec4<u32> {
    var distance = vec4<u32>();
    var rest = i;
    for (var d = end; d > begin + 1u; ) {
        d -= 1u;
        let extent = lw.shape[d >> 2u][d & 3u];
        let slower = rest / extent;
        distance += (rest - slower * extent) * lw.strides[d];
        rest = slower;
    }
    return distance + rest * lw.strides[begin];
}
