// Comparisons of every dtype, on bits (bits.wgsl says why). Elements of 64 bits are (low word, high word).

const lw_INT32_MAX = 0x7fffffff;
const lw_INT32_MIN = -lw_INT32_MAX - 1;

// Masks and special values of float64, like those of float32 in bits.wgsl.
const lw_INFINITY_BITS_FLOAT64 = vec2<u32>(0u, 0x7ff00000u);
const lw_FRACTION_BITS_FLOAT64 = vec2<u32>(0xffffffffu, 0x000fffffu);
const lw_ONE_BITS_FLOAT64 = vec2<u32>(0u, 0x3ff00000u);

fn lw_magnitude_bits_float64(x: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(x.x, x.y & ~lw_SIGN_BIT);
}

fn lw_is_nan_float64(x: vec2<u32>) -> bool {
    return lw_is_less_unsigned_wide(lw_INFINITY_BITS_FLOAT64, lw_magnitude_bits_float64(x));
}

// Maps x to a signed 64-bit integer that compares like the float, with -0 equal to 0. The result for NaN is
// meaningless.
fn lw_order_float64(x: vec2<u32>) -> vec2<u32> {
    let magnitude = lw_magnitude_bits_float64(x);
    if (all(x == magnitude)) {
        return x;
    }
    return lw_negate_wide(magnitude);
}

fn lw_is_less_float64(x1: vec2<u32>, x2: vec2<u32>) -> bool {
    let ordered = !lw_is_nan_float64(x1) & !lw_is_nan_float64(x2);
    return ordered & lw_is_less_wide(lw_order_float64(x1), lw_order_float64(x2));
}

fn lw_is_equal_float64(x1: vec2<u32>, x2: vec2<u32>) -> bool {
    return !lw_is_nan_float64(x1) & !lw_is_nan_float64(x2) & all(lw_order_float64(x1) == lw_order_float64(x2));
}

template binary(bool) -> bool: operation = is_less; result = !x1 & x2;
template binary(int32 uint32) -> bool: operation = is_less; result = x1 < x2;
template binary(int64) -> bool: operation = is_less; result = lw_is_less_wide(x1, x2);
template binary(bool int32 uint32) -> bool: operation = is_equal; result = x1 == x2;
template binary(int64) -> bool: operation = is_equal; result = all(x1 == x2);

fn lw_is_less_float32(x1: f32, x2: f32) -> bool {
    return !lw_is_nan(x1) & !lw_is_nan(x2) & (lw_order(x1) < lw_order(x2));
}

fn lw_is_equal_float32(x1: f32, x2: f32) -> bool {
    return !lw_is_nan(x1) & !lw_is_nan(x2) & (lw_order(x1) == lw_order(x2));
}
