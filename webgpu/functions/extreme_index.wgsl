// Each element becomes a pair (rank, index). The pair with the highest rank wins; among equal ranks, the one with the
// lowest index.
fn lw_${operation}_${dtype}_identity() -> vec2<i32> {
    return vec2<i32>(lw_INT32_MIN, lw_INT32_MAX);
}

fn lw_${operation}_${dtype}_map(x: $value, i: u32) -> vec2<i32> {
    return vec2<i32>($rank, i32(i));
}

fn lw_${operation}_${dtype}_combine(a: vec2<i32>, b: vec2<i32>) -> vec2<i32> {
    return select(b, a, (a.x > b.x) | ((a.x == b.x) & (a.y < b.y)));
}

fn lw_${operation}_${dtype}_finish(total: vec2<i32>, count: u32) -> i32 {
    return total.y;
}
