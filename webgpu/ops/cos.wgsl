fn lw_cos_float32(x: f32) -> f32 {
    if (!lw_isfinite_float32(x)) {
        return lw_from_bits(0x7fc00000u);
    }
    let turns = lw_quarter_turns(x);
    let size = select(lw_cos_near(turns.rest), lw_sin_near(turns.rest), (turns.count & 1u) == 1u);
    return lw_negate_by(size, (turns.count + 1u) << 30u);
}
