struct LwPower {
    less_one: f32, // in [-0.3, 0.42]
    mantissa: f32, // less_one + 1
    exponent: i32,
}

// e^x = mantissa 2^exponent for |x| < 128: k + f = x log2 e, |f| <= 1/2, and 2^f by a polynomial.
// The product is taken in fixed point (32 bits after the point), not as x - k ln2_high - k ln2_low: WGSL lets a
// compiler reassociate that into a single rounded constant.
fn lw_power_of_e(x: f32) -> LwPower {
    let bits = bitcast<u32>(x);
    let exponent = (bits >> 23u) & 0xffu;
    let product = lw_multiply_wide((bits & 0x007fffffu) | 0x00800000u, 3098164009u); // log2 e 2^31
    let fixed = lw_shift_right_wide(product, 149u - exponent);
    let negative = (bits >> 31u) != 0u;
    let whole = i32(fixed.y + (fixed.x >> 31u));
    let fraction = f32(bitcast<i32>(fixed.x)) * 2.3283064365386963e-10;
    return lw_power_of_two(select(fraction, -fraction, negative), select(whole, -whole, negative));
}

// 2^(f + k), |f| <= 1/2. 2^f - 1 = f q(f): q fitted for the least largest error on [-1/2, 1/2], 8e-11.
fn lw_power_of_two(f: f32, k: i32) -> LwPower {
    var q = f * 1.53100830987e-5 + 0.000154614471627;
    q = q * f + 0.00133334545396;
    q = q * f + 0.00961805667082;
    q = q * f + 0.0555041092876;
    q = q * f + 0.240226509223;
    q = q * f + 0.693147180554;
    return LwPower(f * q, f * q + 1.0, k);
}

fn lw_power_value(power: LwPower) -> f32 {
    return lw_scale(power.mantissa, power.exponent);
}

// 1 / (1 + e^-x) without overflow on either side; x finite.
fn lw_logistic(x: f32) -> f32 {
    let tail = lw_power_value(lw_power_of_e(-min(lw_magnitude(x), 100.0)));
    return select(1.0, tail, x < 0.0) / (1.0 + tail);
}

// x / (1 + e^-u), both of one sign and finite. Below -20 the quotient is x e^u; its factors may be denormal while
// it is not, or on their way flushed to zero, so they are scaled last.
fn lw_times_logistic(x: f32, u: f32) -> f32 {
    if (u > -20.0) {
        return x * lw_logistic(u);
    }
    let power = lw_power_of_e(max(u, -120.0));
    return lw_scale(x * power.mantissa, power.exponent);
}
