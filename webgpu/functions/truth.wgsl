// A reduction to bool of whether elements are true, each 0 or 1.
fn lw_${operation}_${dtype}_identity() -> u32 {
    return $identity;
}

fn lw_${operation}_${dtype}_map(x: $value) -> u32 {
    return select(0u, 1u, $test);
}

fn lw_${operation}_${dtype}_combine(a: u32, b: u32) -> u32 {
    return $combine;
}

fn lw_${operation}_${dtype}_finish(total: u32, count: u32) -> bool {
    return total != 0u;
}
