// The quotient of the smaller and the larger size by integers: WGSL's own division promises nothing for large and for
// denormal numbers.
fn lw_atan2_float32(x1: f32, x2: f32) -> f32 {
    if (lw_is_nan(x1) || lw_is_nan(x2)) {
        return lw_from_bits(0x7fc00000u);
    }
    let y = bitcast<u32>(x1) & 0x7fffffffu;
    let x = bitcast<u32>(x2) & 0x7fffffffu;
    var t = 0.0;
    if (x == y) {
        t = select(1.0, 0.0, x == 0u);
    } else {
        t = lw_divide_float32(bitcast<f32>(min(x, y)), bitcast<f32>(max(x, y)));
    }
    var angle = lw_arc_tan(t);
    if (y > x) {
        angle = 1.5707963267948966 - angle;
    }
    if (bitcast<u32>(x2) > 0x7fffffffu) {
        angle = 3.141592653589793 - angle;
    }
    return lw_copysign(angle, x1);
}
