// Operations on the bits of float32. WGSL lets a compiler assume that NaN and infinity do not occur, flush denormals,
// and ignore the sign of zero. Integer arithmetic is exact everywhere, so code that depends on NaN, infinity, denormals
// or the sign of zero works on bits.

// Masks and special values of float32, as bits. NaN and infinity have the same exponent field, whose bits are all 1.
const lw_SIGN_BIT = 0x80000000u;
const lw_INFINITY_BITS = 0x7f800000u;
const lw_NAN_BITS = 0x7fc00000u;
const lw_FRACTION_BITS = 0x007fffffu;
const lw_ONE_BITS = 0x3f800000u;

// This is a function because WGSL rejects a bitcast to NaN or infinity in constant expressions.
fn lw_from_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits);
}

fn lw_nan() -> f32 {
    return lw_from_bits(lw_NAN_BITS);
}

fn lw_infinity() -> f32 {
    return lw_from_bits(lw_INFINITY_BITS);
}

fn lw_negative_zero() -> f32 {
    return lw_from_bits(lw_SIGN_BIT);
}

// The bits of |x|. As integers, they are ordered like the magnitudes, with NaN above infinity.
fn lw_magnitude_bits(x: f32) -> u32 {
    return bitcast<u32>(x) & ~lw_SIGN_BIT;
}

fn lw_is_nan(x: f32) -> bool {
    return lw_magnitude_bits(x) > lw_INFINITY_BITS;
}

fn lw_is_finite(x: f32) -> bool {
    return lw_magnitude_bits(x) < lw_INFINITY_BITS;
}

fn lw_is_zero(x: f32) -> bool {
    return lw_magnitude_bits(x) == 0u;
}

// Returns whether the sign bit of x is set. It is set in -0, and may be set in NaN.
fn lw_is_negative(x: f32) -> bool {
    return bitcast<i32>(x) < 0;
}

// Returns whether `bits` are those of a positive finite number.
fn lw_is_positive(bits: u32) -> bool {
    return bits - 1u < lw_INFINITY_BITS - 1u;
}

// Returns the operand that is NaN, or the first if both are. If neither is, returns some NaN.
fn lw_nan_of(x1: f32, x2: f32) -> f32 {
    if (lw_is_nan(x1)) {
        return x1;
    }
    return select(lw_nan(), x2, lw_is_nan(x2));
}

fn lw_magnitude(x: f32) -> f32 {
    return bitcast<f32>(lw_magnitude_bits(x));
}

fn lw_copysign(magnitude: f32, sign: f32) -> f32 {
    return bitcast<f32>(lw_magnitude_bits(magnitude) | (bitcast<u32>(sign) & lw_SIGN_BIT));
}

// The sign bit of x1 * x2 and of x1 / x2.
fn lw_product_sign(x1: f32, x2: f32) -> u32 {
    return (bitcast<u32>(x1) ^ bitcast<u32>(x2)) & lw_SIGN_BIT;
}

// Maps x to an integer that compares like the float, with -0 equal to 0. The result for NaN is meaningless.
fn lw_order(x: f32) -> i32 {
    let magnitude = bitcast<i32>(lw_magnitude_bits(x));
    return select(magnitude, -magnitude, lw_is_negative(x));
}

// Maps x to an integer that compares like the float, with -0 below 0. The result for NaN is meaningless.
fn lw_total_order(x: f32) -> i32 {
    let magnitude = bitcast<i32>(lw_magnitude_bits(x));
    return select(magnitude, ~magnitude, lw_is_negative(x));
}

// The float that lw_total_order maps to a number; NaN for numbers beyond those of infinities.
fn lw_of_total_order(order: i32) -> f32 {
    let bits = bitcast<u32>(order);
    return bitcast<f32>(select(bits, ~bits | lw_SIGN_BIT, order < 0));
}

// floor(log2 |x|) for a normal x, -127 for zero and denormals, 128 for infinity and NaN.
fn lw_exponent(x: f32) -> i32 {
    return i32(lw_magnitude_bits(x) >> 23u) - 127;
}

// The bits of 2^k, for -126 <= k <= 127.
fn lw_power_of_two_bits(k: i32) -> u32 {
    return u32(k + 127) << 23u;
}

// The mantissa of a normal number, from its bits: the fraction with the implicit bit, in [2^23, 2^24).
fn lw_mantissa(bits: u32) -> u32 {
    return (bits & lw_FRACTION_BITS) | (lw_FRACTION_BITS + 1u);
}

// x * 2^k for a normal x, rounded once. Denormal results and overflow are correct, too.
fn lw_scale(x: f32, k: i32) -> f32 {
    let bits = bitcast<u32>(x);
    let sign = bits & lw_SIGN_BIT;
    let exponent = i32(lw_magnitude_bits(x) >> 23u) + k;
    if ((exponent > 0) & (exponent < 255)) {
        return bitcast<f32>(bits + (u32(k) << 23u));
    }
    if (exponent > 0) {
        return bitcast<f32>(sign | lw_INFINITY_BITS);
    }
    return bitcast<f32>(sign | lw_shift_right_rounded(lw_mantissa(bits), u32(1 - exponent)));
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
    if (bits > lw_FRACTION_BITS) {
        return LwUnpacked(lw_mantissa(bits), i32(bits >> 23u) - 150);
    }
    let shift = countLeadingZeros(bits) - 8u;
    return LwUnpacked(bits << shift, -149 - i32(shift));
}

// mantissa * 2^exponent, rounded once. mantissa is in [2^30, 2^31). Its lowest bit is sticky: the caller has set it if
// the exact value has any lower bit set.
fn lw_pack(sign: u32, mantissa: u32, exponent: i32) -> f32 {
    let biased = exponent + 157;
    if (biased >= 255) {
        return lw_from_bits(sign | lw_INFINITY_BITS);
    }
    if (biased > 0) {
        return bitcast<f32>(sign | ((u32(biased - 1) << 23u) + lw_shift_right_rounded(mantissa, 7u)));
    }
    return bitcast<f32>(sign | lw_shift_right_rounded(mantissa, u32(8 - biased)));
}
