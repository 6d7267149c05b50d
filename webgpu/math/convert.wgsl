// Converts between dtypes through one intermediate format, with integer arithmetic, because WGSL has no 64-bit types
// and does not promise correct rounding.
struct LwNumber {
    sign: u32,            // 0 or 1
    category: u32,        // one of the constants below
    mantissa: vec2<u32>,  // (low word, high word), in [2^63, 2^64)
    exponent: i32,        // a finite value is mantissa * 2^(exponent - 63)
}

const lw_zero = 0u;
const lw_finite = 1u;
const lw_infinite = 2u;
const lw_not_a_number = 3u;

// The format of a float: width of the fraction, exponent bias, and the exponent of infinity and NaN.
struct LwFormat {
    width: u32,
    bias: i32,
    top: i32,
}

// That of a float of 16 bits: 10 for float16, 7 for bfloat16.
fn lw_format_half(width: u32) -> LwFormat {
    return LwFormat(width, (1 << (14u - width)) - 1, (1 << (15u - width)) - 1);
}

fn lw_format_float32() -> LwFormat {
    return LwFormat(23u, 127, 255);
}

fn lw_format_float64() -> LwFormat {
    return LwFormat(52u, 1023, 2047);
}

fn lw_number_of_float(format: LwFormat, sign: u32, exponent: i32, fraction: vec2<u32>) -> LwNumber {
    let empty = all(fraction == vec2<u32>());
    if (exponent == format.top) {
        return LwNumber(sign, select(lw_not_a_number, lw_infinite, empty), fraction, 0);
    }
    if (exponent != 0) {
        let whole = fraction | lw_shift_left_wide(vec2<u32>(1u, 0u), format.width);
        return LwNumber(sign, lw_finite, lw_shift_left_wide(whole, 63u - format.width), exponent - format.bias);
    }
    if (empty) {
        return LwNumber(sign, lw_zero, fraction, 0);
    }
    let shift = lw_leading_zeros_wide(fraction);
    let lowest = 1 - format.bias - i32(format.width);
    return LwNumber(sign, lw_finite, lw_shift_left_wide(fraction, shift), lowest + 63 - i32(shift));
}

fn lw_number_of_float32(x: f32) -> LwNumber {
    let bits = bitcast<u32>(x);
    let fraction = vec2<u32>(bits & lw_FRACTION_BITS, 0u);
    return lw_number_of_float(lw_format_float32(), bits >> 31u, i32(lw_magnitude_bits(x) >> 23u), fraction);
}

fn lw_number_of_float64(x: vec2<u32>) -> LwNumber {
    let exponent = i32(lw_magnitude_bits_float64(x).y >> 20u);
    return lw_number_of_float(lw_format_float64(), x.y >> 31u, exponent, x & lw_FRACTION_BITS_FLOAT64);
}

fn lw_number_of_uint64(x: vec2<u32>) -> LwNumber {
    if (all(x == vec2<u32>())) {
        return LwNumber(0u, lw_zero, x, 0);
    }
    let shift = lw_leading_zeros_wide(x);
    return LwNumber(0u, lw_finite, lw_shift_left_wide(x, shift), 63 - i32(shift));
}

fn lw_number_of_uint32(x: u32) -> LwNumber {
    return lw_number_of_uint64(vec2<u32>(x, 0u));
}

fn lw_number_of_int64(x: vec2<u32>) -> LwNumber {
    let sign = x.y >> 31u;
    var number = lw_number_of_uint64(select(x, lw_negate_wide(x), sign == 1u));
    number.sign = sign;
    return number;
}

fn lw_number_of_int32(x: i32) -> LwNumber {
    return lw_number_of_int64(lw_widen(x));
}

fn lw_widen(x: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(x), bitcast<u32>(x >> 31u));
}

// Returns the exponent and fraction bits of `number`, rounded to nearest, ties to even. The caller adds the sign.
fn lw_float_of(format: LwFormat, number: LwNumber) -> vec2<u32> {
    let infinity = lw_shift_left_wide(vec2<u32>(u32(format.top), 0u), format.width);
    if (number.category == lw_zero) {
        return vec2<u32>();
    }
    if (number.category == lw_not_a_number) {
        return infinity | lw_shift_left_wide(vec2<u32>(1u, 0u), format.width - 1u);
    }
    let exponent = number.exponent + format.bias;
    if ((number.category == lw_infinite) | (exponent >= format.top)) {
        return infinity;
    }
    let normal = max(exponent, 1);
    let dropped = 63u - format.width + u32(normal - exponent);
    var rounded = vec2<u32>();
    if (dropped <= 64u) {
        rounded = lw_shift_right_wide(number.mantissa, dropped);
        let lost = lw_shift_left_wide(number.mantissa, 64u - dropped);
        let half = vec2<u32>(0u, 0x80000000u);
        let up = lw_is_less_unsigned_wide(half, lost) | (all(lost == half) & ((rounded.x & 1u) == 1u));
        rounded = lw_add_wide(rounded, vec2<u32>(select(0u, 1u, up), 0u));
    }
    // In a normal number, the leading bit of `rounded` lies in the exponent field, where it adds 1, hence normal - 1. A
    // carry from rounding adds 1 more, as it should.
    return lw_add_wide(rounded, lw_shift_left_wide(vec2<u32>(u32(normal - 1), 0u), format.width));
}

fn lw_half_of(number: LwNumber, width: u32) -> u32 {
    return lw_float_of(lw_format_half(width), number).x | (number.sign << 15u);
}

fn lw_float32_of(number: LwNumber) -> f32 {
    return bitcast<f32>(lw_float_of(lw_format_float32(), number).x | (number.sign << 31u));
}

fn lw_float64_of(number: LwNumber) -> vec2<u32> {
    return lw_float_of(lw_format_float64(), number) | vec2<u32>(0u, number.sign << 31u);
}

// Truncates to a signed integer of `bits` bits. Values out of range saturate; NaN becomes 0.
fn lw_integer_of(number: LwNumber, bits: i32) -> vec2<u32> {
    if ((number.category == lw_zero) | (number.category == lw_not_a_number)) {
        return vec2<u32>();
    }
    if ((number.category == lw_infinite) | (number.exponent >= bits - 1)) {
        let lowest = lw_shift_left_wide(vec2<u32>(0xffffffffu, 0xffffffffu), u32(bits - 1));
        return select(~lowest, lowest, number.sign == 1u);
    }
    if (number.exponent < 0) {
        return vec2<u32>();
    }
    let magnitude = lw_shift_right_wide(number.mantissa, u32(63 - number.exponent));
    return select(magnitude, lw_negate_wide(magnitude), number.sign == 1u);
}

// The same for an unsigned integer; negative values become 0.
fn lw_unsigned_of(number: LwNumber, bits: i32) -> vec2<u32> {
    let is_nothing = (number.category == lw_zero) | (number.category == lw_not_a_number) | (number.sign == 1u);
    if (is_nothing | ((number.category == lw_finite) & (number.exponent < 0))) {
        return vec2<u32>();
    }
    if ((number.category == lw_infinite) | (number.exponent >= bits)) {
        return lw_shift_right_wide(vec2<u32>(0xffffffffu, 0xffffffffu), u32(64 - bits));
    }
    return lw_shift_right_wide(number.mantissa, u32(63 - number.exponent));
}

fn lw_int32_of(number: LwNumber) -> i32 {
    return bitcast<i32>(lw_integer_of(number, 32).x);
}

fn lw_int64_of(number: LwNumber) -> vec2<u32> {
    return lw_integer_of(number, 64);
}

fn lw_uint32_of(number: LwNumber) -> u32 {
    return lw_unsigned_of(number, 32).x;
}

fn lw_uint64_of(number: LwNumber) -> vec2<u32> {
    return lw_unsigned_of(number, 64);
}
