// For sort.wgsl: the position of the element whose key is word i of a row.
fn lw_place(row: u32, i: u32) -> u32 {
    if (lw.source == lw_operand) {
        return i;
    }
    return scratch_buffer[lw.source + lw.count * lw.length + row * lw.length + i];
}
