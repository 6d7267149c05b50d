// Selects the bits of one of two elements. Dtypes with elements of the same size share a function.
fn lw_where_bits8(condition: bool, x1: u32, x2: u32) -> u32 {
    return select(x2, x1, condition);
}

fn lw_where_bits16(condition: bool, x1: u32, x2: u32) -> u32 {
    return select(x2, x1, condition);
}

fn lw_where_bits32(condition: bool, x1: u32, x2: u32) -> u32 {
    return select(x2, x1, condition);
}

fn lw_where_bits64(condition: bool, x1: vec2<u32>, x2: vec2<u32>) -> vec2<u32> {
    return select(x2, x1, condition);
}
