// `result` is an expression of x, of the dtype after the arrow.
fn lw_${operation}_${dtype}_${to}(x: $value) -> $out {
    return $result;
}
