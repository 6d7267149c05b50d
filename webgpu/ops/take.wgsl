// Returns the position along an axis that an index selects. Negative indices count from the end. Indices out of range
// are clamped, because a kernel cannot raise an error.
fn lw_take_position(index: i32, extent: i32) -> u32 {
    return u32(clamp(select(index, index + extent, index < 0), 0, extent - 1));
}
