// The magnitude is exact modulo 2^32, as it is less than that.
fn lw_difference_int32(x1: i32, x2: i32) -> f32 {
    let is_negative = x1 < x2;
    let difference = bitcast<u32>(x1) - bitcast<u32>(x2);
    let magnitude = vec2<u32>(select(difference, 0u - difference, is_negative), 0u);
    var number = lw_number_of_int64(magnitude);
    number.sign = u32(is_negative);
    return lw_float32_of(number);
}

// x - 2^31 as a signed integer: the differences are the same.
template binary(uint32) -> float32:
    result = lw_difference_int32(bitcast<i32>(x1 ^ lw_SIGN_BIT), bitcast<i32>(x2 ^ lw_SIGN_BIT));
