// Rounds half to even. Adds the largest fraction below 1/2 to the bits of x, plus one unit in the last place if the
// integral part is odd, and then clears the fraction. A carry may go into the exponent. For |x| in [1, 2) the integral
// part is the implicit bit 1; the bit read in its place is the lowest bit of the exponent, which is then also 1.
fn lw_round_float32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let exponent = lw_exponent(x);
    if (exponent >= 23) {
        return x; // an integer already, infinite or NaN
    }
    if (exponent < 0) {
        return lw_copysign(select(0.0, 1.0, lw_magnitude_bits(x) > lw_power_of_two_bits(-1)), x);
    }
    let fraction = lw_FRACTION_BITS >> u32(exponent);
    let odd = (bits >> u32(23 - exponent)) & 1u;
    return bitcast<f32>((bits + (fraction >> 1u) + odd) & ~fraction);
}

template expression(int32): result = x;
