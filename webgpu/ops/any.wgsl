fn lw_any_bool_identity() -> u32 {
    return 0u;
}

fn lw_any_bool_map(x: bool) -> u32 {
    return select(0u, 1u, x);
}

fn lw_any_bool_combine(a: u32, b: u32) -> u32 {
    return a | b;
}

fn lw_any_bool_finish(total: u32, count: u32) -> bool {
    return total != 0u;
}

fn lw_any_int32_identity() -> u32 {
    return 0u;
}

fn lw_any_int32_map(x: i32) -> u32 {
    return select(0u, 1u, x != 0);
}

fn lw_any_int32_combine(a: u32, b: u32) -> u32 {
    return a | b;
}

fn lw_any_int32_finish(total: u32, count: u32) -> bool {
    return total != 0u;
}

fn lw_any_float32_identity() -> u32 {
    return 0u;
}

fn lw_any_float32_map(x: f32) -> u32 {
    return select(0u, 1u, !lw_is_zero(x));
}

fn lw_any_float32_combine(a: u32, b: u32) -> u32 {
    return a | b;
}

fn lw_any_float32_finish(total: u32, count: u32) -> bool {
    return total != 0u;
}
