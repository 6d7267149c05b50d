// Copies the bits of an element. Dtypes with elements of the same size share a function.
fn lw_copy_bits8(x: u32) -> u32 {
    return x;
}

fn lw_copy_bits16(x: u32) -> u32 {
    return x;
}

fn lw_copy_bits32(x: u32) -> u32 {
    return x;
}

fn lw_copy_bits64(x: vec2<u32>) -> vec2<u32> {
    return x;
}
