// `result` is an expression of `arguments`, which are x without this key.
fn lw_${operation}_${dtype}($arguments) -> $out {
    return $result;
}
