// `result` is an expression of x1 and x2.
fn lw_${operation}_${dtype}(x1: $value, x2: $value) -> $out {
    return $result;
}
