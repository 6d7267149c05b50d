// sin over cos. Small x stay as they are, denormal ones too.
fn lw_tan_float32(x: f32) -> f32 {
    if (!lw_isfinite_float32(x)) {
        return lw_from_bits(0x7fc00000u);
    }
    if (lw_magnitude(x) < 1e-4) {
        return x;
    }
    let turns = lw_quarter_turns(x);
    let sine = lw_sin_near(turns.rest);
    let cosine = lw_cos_near(turns.rest);
    let odd = (turns.count & 1u) == 1u;
    let size = select(sine, cosine, odd) / select(cosine, sine, odd);
    return lw_negate_by(size, (turns.count << 31u) ^ bitcast<u32>(x));
}
