// The positions in a row of the elements of a pair: adjacent, or half a row apart.
fn lw_rope_places(pair: u32, pairs: u32, is_split: u32) -> vec2<u32> {
    return select(vec2<u32>(2u * pair, 2u * pair + 1u), vec2<u32>(pair, pair + pairs), is_split != 0u);
}

// Rotates (a, b) by position * first * ratio^pair turns; first and ratio are float64.
// 1. The turns per position, in pairs of float32: relative error about 2^-42.
// 2. Times the position, in fixed point with 64 bits after the binary point. Whole turns drop out exactly.
// 3. The nearest quadrant, and the rest as an angle of at most pi/4.
fn lw_rope_float32(a: f32, b: f32, pair: u32, position: u32, first: vec2<u32>, ratio: vec2<u32>) -> vec2<f32> {
    var turns = lw_pair_of_float64(first, 0);
    var power = lw_pair_of_float64(ratio, 0);
    for (var exponent = pair; exponent > 0u; exponent >>= 1u) {
        if ((exponent & 1u) != 0u) {
            turns = lw_pair_multiply(turns, power);
        }
        power = lw_pair_multiply(power, power);
    }
    let fixed = lw_add_wide(lw_fixed_of(turns.high), lw_fixed_of(turns.low));
    let product = lw_multiply_wide(fixed.x, position).y + fixed.y * position;
    let quadrant = (product + 0x20000000u) >> 30u;
    let r = f32(bitcast<i32>(product - (quadrant << 30u))) * 0x1.921fb6p-30;
    let sine = lw_sin_minimax(r);
    let cosine = lw_cos_minimax(r);
    let swapped = (quadrant & 1u) == 1u;
    let s = lw_trig_negate(select(sine, cosine, swapped), quadrant << 30u);
    let c = lw_trig_negate(select(cosine, sine, swapped), (quadrant + 1u) << 30u);
    return vec2<f32>(a * c - b * s, b * c + a * s);
}

// x modulo 1, as an integer in units of 2^-64.
fn lw_fixed_of(x: f32) -> vec2<u32> {
    let shift = i32(lw_magnitude_bits(x) >> 23u) - 86; // 64 - 150
    let mantissa = vec2<u32>(lw_mantissa(bitcast<u32>(x)), 0u);
    let size = select(lw_shift_right_wide(mantissa, u32(-shift)), lw_shift_left_wide(mantissa, u32(shift)), shift >= 0);
    return select(size, lw_negate_wide(size), lw_is_negative(x));
}
