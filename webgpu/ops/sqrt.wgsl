// Correctly rounded.
// 1. x = m * 2^exponent, m in [1, 4), exponent even.
// 2. Start from the sqrt of WGSL: root = sqrt(m) 2^23, truncated.
// 3. Adjust root by 1 at a time, in integers, until root (root - 1) < m 2^46 <= root (root + 1). The difference of
//    m 2^46 and root^2 has at most 31 bits, so the other bits of both are left out.
fn lw_sqrt_float32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let magnitude = lw_magnitude_bits(x);
    if ((magnitude == 0u) | (magnitude > lw_INFINITY_BITS) | (bits == lw_INFINITY_BITS)) {
        return x;
    }
    if (lw_is_negative(x)) {
        return lw_nan();
    }
    let unpacked = lw_unpack(magnitude);
    let mantissa = unpacked.mantissa;
    let exponent = unpacked.exponent + 23;
    let odd = u32(exponent & 1);
    let square = mantissa << (23u + odd);
    var root = u32(sqrt(f32(mantissa << odd) * 0x1p-23) * 0x1p23);
    for (var step = 0u; step < 4u; step += 1u) {
        let left = bitcast<i32>(square - root * root);
        if (left > i32(root)) {
            root += 1u;
        } else if (left <= -i32(root)) {
            root -= 1u;
        }
    }
    let half = (exponent - i32(odd)) / 2;
    return bitcast<f32>((u32(half + 126) << 23u) + root);
}
