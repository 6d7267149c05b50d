// A reduction whose accumulator has the dtype of the elements.
fn lw_${operation}_${dtype}_identity() -> $value {
    return $identity;
}

fn lw_${operation}_${dtype}_map(x: $value) -> $value {
    return $map;
}

fn lw_${operation}_${dtype}_combine(a: $value, b: $value) -> $value {
    return $combine;
}

fn lw_${operation}_${dtype}_finish(total: $value, count: u32) -> $value {
    return $finish;
}
