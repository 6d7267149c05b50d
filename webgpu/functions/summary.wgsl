// How rows are summarized. Without `accumulator`, the summary has the type of the elements.
fn lw_${operation}_${dtype}_identity() -> $accumulator {
    return $identity;
}

fn lw_${operation}_${dtype}_map(x: $value) -> $accumulator {
    return $map;
}

fn lw_${operation}_${dtype}_combine(a: $accumulator, b: $accumulator) -> $accumulator {
    return $combine;
}
