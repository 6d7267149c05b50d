// For matrix_tiles.wgsl: tiles of $rows x $columns elements, computed by $invocations invocations.
struct LwTile_$tile {
    $registers
}

// [strip][k][m / 4] and [strip][k][n / 4]
var<workgroup> lw_strips_a_$tile: array<array<array<vec4<f32>, $a_pitch>, 8>, 2>;
var<workgroup> lw_strips_b_$tile: array<array<array<vec4<f32>, $b_pitch>, 8>, 2>;

// Multiplies indices begin .. end - 1 along k. A round of the loop multiplies strip 0 while strip 1 is loaded, then
// strip 1 while the next strip 0 is loaded.
fn lw_multiply_$tile(base: vec4<u32>, m: u32, n: u32, begin: u32, end: u32, t: u32) -> LwTile_$tile {
    var c = LwTile_$tile();
    let x = t % ${across}u;
    let y = t / ${across}u;
    let strips = (end - begin + 7u) / 8u;
    let first = end - begin - 8u * (strips - 1u); // extent of the first strip
    let starts = base + begin * vec4<u32>(lw.column_strides.x, lw.row_strides.y, 0u, 0u);
    let a_is_along_k = (lw_access & lw_a_along_m) == 0u;
    let b_is_along_k = (lw_access & lw_b_along_k) != 0u;
    let a = lw_vectors_of_strip(starts.x, m, lw.m, lw.row_strides.x, lw.column_strides.x, a_is_along_k, t,
                                ${a_quarter}u, ${invocations}u);
    let b = lw_vectors_of_strip(starts.y, n, lw.n, lw.column_strides.y, lw.row_strides.y, b_is_along_k, t,
                                ${b_quarter}u, ${invocations}u);
    var a_at = a.at;
    var b_at = b.at;
    let along = vec4<u32>(0u, 1u, 2u, 3u) + t % 2u * 4u;
    $load_first
    if (strips > 1u) {
        a_at += a.step * first;
        b_at += b.step * first;
    }
    $put_0
    workgroupBarrier();
    for (var strip = 2u; strip < strips + 2u; strip += 2u) { // past the end, loads the last strip again, as zeros
        let is_there = strip <= strips;
        $load_if_there
        $multiply_0
        a_at += select(0u, 8u * a.step, strip < strips);
        b_at += select(0u, 8u * b.step, strip < strips);
        $put_1
        workgroupBarrier();
        $load
        $multiply_1
        a_at += select(0u, 8u * a.step, strip + 1u < strips);
        b_at += select(0u, 8u * b.step, strip + 1u < strips);
        $put_0
        workgroupBarrier();
    }
    return c;
}

// Stores the elements of an invocation in the result.
fn lw_store_tile_$tile(base: vec4<u32>, m: u32, n: u32, t: u32, c: LwTile_$tile) {
    let row = m + t / ${across}u * 4u;
    let column = n + t % ${across}u * 4u;
    $store_rows
}

// Stores the elements of an invocation in scratch memory, as those of part `i`.
fn lw_store_parts_$tile(i: u32, m: u32, n: u32, t: u32, c: LwTile_$tile) {
    let row = m + t / ${across}u * 4u;
    let column = n + t % ${across}u * 4u;
    $store_parts
}
