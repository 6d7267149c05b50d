// A reduction of `arguments`, which are x without this key. Without `accumulator`, that is the type of the elements.
fn lw_${operation}_${dtype}_identity() -> $accumulator {
    return $identity;
}

fn lw_${operation}_${dtype}_map($arguments) -> $accumulator {
    return $map;
}

fn lw_${operation}_${dtype}_combine(a: $accumulator, b: $accumulator) -> $accumulator {
    return $combine;
}

fn lw_${operation}_${dtype}_finish(total: $accumulator, count: u32) -> $out {
    return $finish;
}
