// A creation function receives the position of an element and the bits of the parameters, which are float64 for float
// dtypes and int64 for others.
fn lw_full_bool(i: u32, value: vec2<u32>) -> bool {
    return lw_astype_int64_bool(value);
}

fn lw_full_int32(i: u32, value: vec2<u32>) -> i32 {
    return lw_astype_int64_int32(value);
}

fn lw_full_int64(i: u32, value: vec2<u32>) -> vec2<u32> {
    return value;
}

fn lw_full_float16(i: u32, value: vec2<u32>) -> u32 {
    return lw_astype_float64_float16(value);
}

fn lw_full_float32(i: u32, value: vec2<u32>) -> f32 {
    return lw_astype_float64_float32(value);
}

fn lw_full_float64(i: u32, value: vec2<u32>) -> vec2<u32> {
    return value;
}
