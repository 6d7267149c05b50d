// Operations on the bits of float32. WGSL lets a compiler assume that NaN and infinity do not occur, flush denormals,
// and ignore the sign of zero. Integer arithmetic is exact everywhere, so code that depends on NaN, infinity, denormals
// or the sign of zero works on bits.

// This is a function because WGSL rejects a bitcast to NaN or infinity in constant expressions.
fn lw_from_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits);
}

fn lw_is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// Returns the operand that is NaN, or the first if both are. If neither is, returns some NaN.
fn lw_nan_of(x1: f32, x2: f32) -> f32 {
    if (lw_is_nan(x1)) {
        return x1;
    }
    return select(lw_from_bits(0x7fc00000u), x2, lw_is_nan(x2));
}

fn lw_magnitude(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
}

fn lw_copysign(magnitude: f32, sign: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(magnitude) & 0x7fffffffu) | (bitcast<u32>(sign) & 0x80000000u));
}

// Maps x to an integer that compares like the float, with -0 equal to 0. The result for NaN is meaningless.
fn lw_order(x: f32) -> i32 {
    let bits = bitcast<i32>(x);
    return select(bits, -(bits & 0x7fffffff), bits < 0);
}

// Maps x to an integer that compares like the float, with -0 below 0. The result for NaN is meaningless.
fn lw_total_order(x: f32) -> i32 {
    let bits = bitcast<i32>(x);
    return select(bits, bits ^ 0x7fffffff, bits < 0);
}

// x * 2^k for a normal x, rounded once. Denormal results and overflow are correct, too.
fn lw_scale(x: f32, k: i32) -> f32 {
    let bits = bitcast<u32>(x);
    let sign = bits & 0x80000000u;
    let exponent = i32((bits >> 23u) & 0xffu) + k;
    if (exponent >= 255) {
        return bitcast<f32>(sign | 0x7f800000u);
    }
    if (exponent > 0) {
        return bitcast<f32>((bits & 0x807fffffu) | (u32(exponent) << 23u));
    }
    let mantissa = (bits & 0x007fffffu) | 0x00800000u;
    return bitcast<f32>(sign | lw_shift_right_rounded(mantissa, u32(1 - exponent)));
}

// Returns x * 2^-n for an integer x < 2^31, rounded to the nearest integer, ties to even.
fn lw_shift_right_rounded(x: u32, n: u32) -> u32 {
    if (n == 0u) {
        return x;
    }
    if (n > 31u) {
        return 0u;
    }
    let half = 1u << (n - 1u);
    let odd = (x >> n) & 1u;
    return (x + half - 1u + odd) >> n;
}

struct LwUnpacked {
    mantissa: u32, // in [2^23, 2^24)
    exponent: i32, // the value is mantissa * 2^exponent
}

// The mantissa and exponent of a positive finite number, from its bits.
fn lw_unpack(bits: u32) -> LwUnpacked {
    if (bits > 0x007fffffu) {
        return LwUnpacked((bits & 0x007fffffu) | 0x00800000u, i32(bits >> 23u) - 150);
    }
    let shift = countLeadingZeros(bits) - 8u;
    return LwUnpacked(bits << shift, -149 - i32(shift));
}

// mantissa * 2^exponent, rounded once. mantissa is in [2^30, 2^31). Its lowest bit is sticky: the caller has set it if
// the exact value has any lower bit set.
fn lw_pack(sign: u32, mantissa: u32, exponent: i32) -> f32 {
    let biased = exponent + 157;
    if (biased >= 255) {
        return lw_from_bits(sign | 0x7f800000u);
    }
    if (biased > 0) {
        return bitcast<f32>(sign | ((u32(biased - 1) << 23u) + lw_shift_right_rounded(mantissa, 7u)));
    }
    return bitcast<f32>(sign | lw_shift_right_rounded(mantissa, u32(8 - biased)));
}
