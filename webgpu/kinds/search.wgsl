// Returns the position of a value in the row x1: the number of its elements that are before the value. The operation's
// scalars are the length of the row, its stride in bytes, and whether equal elements are before the value.
fn lw_search(value: $value) -> i32 {
    var position = 0u;
    var length = lw.scalars.x; // the result is in position .. position + length
    while (length > 0u) {
        let half = length / 2u;
        let middle = lw_load_$row(lw.offsets.x + (position + half) * lw.scalars.y);
        if ($is_before(middle, value, lw.scalars.z != 0u)) {
            position += half + 1u;
            length -= half + 1u;
        } else {
            length = half;
        }
    }
    return i32(position);
}
