// Returns the positions of four values in the row x1: for each, the number of elements that are before it. The
// operation's scalars are the length of the row, its stride in bytes, and whether equal elements are before the value.
// Four searches of equally many steps, because each step waits for memory. A step may look at elements again that are
// known not to be before the value.
fn lw_search_four(x: $value, y: $value, z: $value, w: $value) -> vec4<i32> {
    var position = vec4<u32>();
    for (var length = lw.scalars.x; length > 0u; length /= 2u) { // each result is in position .. position + length
        let half = (length + 1u) / 2u;
        $steps
    }
    return bitcast<vec4<i32>>(position);
}
