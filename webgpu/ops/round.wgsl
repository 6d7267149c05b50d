// Half of the last whole bit, less one, plus that bit, is added to the bits; a carry may go into the exponent. The last
// whole bit of 1.f is the last of its exponent, which is 1.
fn lw_round_float32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let exponent = i32((bits >> 23u) & 0xffu) - 127;
    if (exponent >= 23) {
        return x; // whole already, infinite or NaN
    }
    if (exponent < 0) {
        return lw_copysign(select(0.0, 1.0, (bits & 0x7fffffffu) > 0x3f000000u), x);
    }
    let fraction = 0x007fffffu >> u32(exponent);
    let odd = (bits >> u32(23 - exponent)) & 1u;
    return bitcast<f32>((bits + (fraction >> 1u) + odd) & ~fraction);
}

fn lw_round_int32(x: i32) -> i32 {
    return x;
}
