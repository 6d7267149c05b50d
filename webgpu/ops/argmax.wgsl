// Each element becomes a pair (rank, index). The pair with the highest rank wins; among equal ranks, the one with the
// lowest index. NaN has the highest rank.
fn lw_argmax_float32_identity() -> vec2<i32> {
    return vec2<i32>(lw_INT32_MIN, lw_INT32_MAX);
}

fn lw_argmax_float32_map(x: f32, i: u32) -> vec2<i32> {
    return vec2<i32>(select(lw_order(x), lw_INT32_MAX, lw_is_nan(x)), i32(i));
}

fn lw_argmax_float32_combine(a: vec2<i32>, b: vec2<i32>) -> vec2<i32> {
    return select(b, a, (a.x > b.x) | ((a.x == b.x) & (a.y < b.y)));
}

fn lw_argmax_float32_finish(total: vec2<i32>, count: u32) -> i32 {
    return total.y;
}

fn lw_argmax_int32_identity() -> vec2<i32> {
    return vec2<i32>(lw_INT32_MIN, lw_INT32_MAX);
}

fn lw_argmax_int32_map(x: i32, i: u32) -> vec2<i32> {
    return vec2<i32>(x, i32(i));
}

fn lw_argmax_int32_combine(a: vec2<i32>, b: vec2<i32>) -> vec2<i32> {
    return select(b, a, (a.x > b.x) | ((a.x == b.x) & (a.y < b.y)));
}

fn lw_argmax_int32_finish(total: vec2<i32>, count: u32) -> i32 {
    return total.y;
}
