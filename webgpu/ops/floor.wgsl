fn lw_floor_float32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let exponent = i32((bits >> 23u) & 0xffu) - 127;
    if (exponent >= 23) {
        return x; // an integer already, infinite or NaN
    }
    let negative = (bits >> 31u) != 0u;
    if (exponent < 0) {
        let below = negative && (bits & 0x7fffffffu) != 0u;
        return select(lw_copysign(0.0, x), -1.0, below);
    }
    let fraction = 0x007fffffu >> u32(exponent);
    if ((bits & fraction) == 0u) {
        return x;
    }
    return bitcast<f32>(select(bits, bits + fraction, negative) & ~fraction);
}

fn lw_floor_int32(x: i32) -> i32 {
    return x;
}
