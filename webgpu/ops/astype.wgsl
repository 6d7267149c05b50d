// Conversions between floats, and between floats and integers, use the integer arithmetic of math/convert.wgsl. Float
// results are rounded once.
fn lw_astype_bool_int32(x: bool) -> i32 {
    return select(0, 1, x);
}

fn lw_astype_bool_int64(x: bool) -> vec2<u32> {
    return vec2<u32>(select(0u, 1u, x), 0u);
}

fn lw_astype_bool_float16(x: bool) -> u32 {
    return select(0u, lw_ONE_BITS_FLOAT16, x);
}

fn lw_astype_bool_float32(x: bool) -> f32 {
    return select(0.0, 1.0, x);
}

fn lw_astype_bool_float64(x: bool) -> vec2<u32> {
    return select(vec2<u32>(), lw_ONE_BITS_FLOAT64, x);
}

fn lw_astype_int32_bool(x: i32) -> bool {
    return x != 0;
}

fn lw_astype_int32_int64(x: i32) -> vec2<u32> {
    return lw_widen(x);
}

fn lw_astype_int32_float16(x: i32) -> u32 {
    return lw_float16_of(lw_number_of_int32(x));
}

fn lw_astype_int32_float32(x: i32) -> f32 {
    return lw_float32_of(lw_number_of_int32(x));
}

fn lw_astype_int32_float64(x: i32) -> vec2<u32> {
    return lw_float64_of(lw_number_of_int32(x));
}

fn lw_astype_int64_bool(x: vec2<u32>) -> bool {
    return any(x != vec2<u32>());
}

fn lw_astype_int64_int32(x: vec2<u32>) -> i32 {
    return bitcast<i32>(x.x);
}

fn lw_astype_int64_float16(x: vec2<u32>) -> u32 {
    return lw_float16_of(lw_number_of_int64(x));
}

fn lw_astype_int64_float32(x: vec2<u32>) -> f32 {
    return lw_float32_of(lw_number_of_int64(x));
}

fn lw_astype_int64_float64(x: vec2<u32>) -> vec2<u32> {
    return lw_float64_of(lw_number_of_int64(x));
}

fn lw_astype_float16_bool(x: u32) -> bool {
    return lw_magnitude_bits_float16(x) != 0u;
}

fn lw_astype_float16_int32(x: u32) -> i32 {
    return bitcast<i32>(lw_integer_of(lw_number_of_float16(x), 32).x);
}

fn lw_astype_float16_int64(x: u32) -> vec2<u32> {
    return lw_integer_of(lw_number_of_float16(x), 64);
}

fn lw_astype_float16_float32(x: u32) -> f32 {
    return lw_float32_of(lw_number_of_float16(x));
}

fn lw_astype_float16_float64(x: u32) -> vec2<u32> {
    return lw_float64_of(lw_number_of_float16(x));
}

fn lw_astype_float32_bool(x: f32) -> bool {
    return !lw_is_zero(x);
}

fn lw_astype_float32_int32(x: f32) -> i32 {
    return bitcast<i32>(lw_integer_of(lw_number_of_float32(x), 32).x);
}

fn lw_astype_float32_int64(x: f32) -> vec2<u32> {
    return lw_integer_of(lw_number_of_float32(x), 64);
}

fn lw_astype_float32_float16(x: f32) -> u32 {
    return lw_float16_of(lw_number_of_float32(x));
}

fn lw_astype_float32_float64(x: f32) -> vec2<u32> {
    return lw_float64_of(lw_number_of_float32(x));
}

fn lw_astype_float64_bool(x: vec2<u32>) -> bool {
    return any(lw_magnitude_bits_float64(x) != vec2<u32>());
}

fn lw_astype_float64_int32(x: vec2<u32>) -> i32 {
    return bitcast<i32>(lw_integer_of(lw_number_of_float64(x), 32).x);
}

fn lw_astype_float64_int64(x: vec2<u32>) -> vec2<u32> {
    return lw_integer_of(lw_number_of_float64(x), 64);
}

fn lw_astype_float64_float16(x: vec2<u32>) -> u32 {
    return lw_float16_of(lw_number_of_float64(x));
}

fn lw_astype_float64_float32(x: vec2<u32>) -> f32 {
    return lw_float32_of(lw_number_of_float64(x));
}
