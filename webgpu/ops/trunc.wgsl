fn lw_trunc_float32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let exponent = lw_exponent(x);
    if (exponent >= 23) {
        return x; // an integer already, infinite or NaN
    }
    if (exponent < 0) {
        return lw_copysign(0.0, x);
    }
    return bitcast<f32>(bits & ~(lw_FRACTION_BITS >> u32(exponent)));
}

template expression(int32): result = x;
