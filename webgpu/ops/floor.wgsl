fn lw_floor_float32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let exponent = lw_exponent(x);
    if (exponent >= 23) {
        return x; // an integer already, infinite or NaN
    }
    let negative = lw_is_negative(x);
    if (exponent < 0) {
        let below = negative & !lw_is_zero(x);
        return select(lw_copysign(0.0, x), -1.0, below);
    }
    let fraction = lw_FRACTION_BITS >> u32(exponent);
    if ((bits & fraction) == 0u) {
        return x;
    }
    return bitcast<f32>(select(bits, bits + fraction, negative) & ~fraction);
}

template expression(int32): result = x;
