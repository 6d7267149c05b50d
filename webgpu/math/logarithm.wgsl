// x = 2^power (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2): core/math/log.h says how logarithms follow.
struct LwLogParts {
    power: f32,
    f: f32,
}

// For positive finite x, denormal ones too.
fn lw_log_parts(x: f32) -> LwLogParts {
    let unpacked = lw_unpack(bitcast<u32>(x));
    let mantissa = i32(unpacked.mantissa);
    if (mantissa < 11863283) { // sqrt(2) 2^23
        return LwLogParts(f32(unpacked.exponent + 23), f32(mantissa - 8388608) * 1.1920928955078125e-7);
    }
    return LwLogParts(f32(unpacked.exponent + 24), f32(mantissa - 16777216) * 5.960464477539063e-8);
}

// Of 1 + x for finite x > -1. f is not taken from the rounded sum, and nothing is lost if a compiler reassociates.
fn lw_log1p_parts(x: f32) -> LwLogParts {
    if (x > -0.2928 && x < 0.4142) {
        return LwLogParts(0.0, x);
    }
    let power = lw_log_parts(1.0 + x).power;
    let k = i32(power);
    return LwLogParts(power, lw_scale(x, -k) + (lw_scale(1.0, -k) - 1.0));
}

// t: ln(1 + f) = f + f t.
fn lw_log_minimax(f: f32) -> f32 {
    var r = f * -0.0763464347 + 0.127616048;
    r = r * f - 0.131601334;
    r = r * f + 0.142017514;
    r = r * f - 0.166233629;
    r = r * f + 0.200012267;
    r = r * f - 0.250008196;
    r = r * f + 0.333333313;
    return f * (r * f - 0.5);
}

fn lw_log_natural(parts: LwLogParts) -> f32 {
    let low = parts.f * lw_log_minimax(parts.f) + parts.power * 1.42860677e-06;
    return parts.power * 0.693145752 + (parts.f + low);
}

// Whether x is positive and finite.
fn lw_has_logarithm(x: f32) -> bool {
    let bits = bitcast<i32>(x);
    return bits > 0 && bits < 0x7f800000;
}

// The logarithm of the others, to any base.
fn lw_log_special(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    if ((bits & 0x7fffffffu) == 0u) {
        return lw_from_bits(0xff800000u);
    }
    return lw_from_bits(select(0x7fc00000u, bits, bits == 0x7f800000u));
}
