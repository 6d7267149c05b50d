// Returns the position along an axis that an index selects. Negative indices count from the end. For indices out of
// range, it is at least `extent`; nothing is written there.
fn lw_put_position(index: i32, extent: i32) -> u32 {
    return bitcast<u32>(select(index, index + extent, index < 0));
}
// Returns the claim of the index with this number to the position that it selects. Later indices have larger claims,
// and 0 means unclaimed.
fn lw_put_claim(number: u32) -> u32 {
    return number + 1u;
}
