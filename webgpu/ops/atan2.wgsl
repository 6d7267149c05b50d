// The steps of core/ops/atan2.h. The smaller magnitude is divided by the larger in integers, because WGSL does not
// promise the accuracy of a division with large or denormal operands.
fn lw_atan2_float32(x1: f32, x2: f32) -> f32 {
    if (lw_is_nan(x1) | lw_is_nan(x2)) {
        return lw_nan();
    }
    let y = lw_magnitude_bits(x1);
    let x = lw_magnitude_bits(x2);
    var t = 0.0;
    if (x == y) {
        t = select(1.0, 0.0, x == 0u);
    } else {
        t = lw_divide_float32(bitcast<f32>(min(x, y)), bitcast<f32>(max(x, y)));
    }
    var angle = lw_atan_minimax(t);
    if (y > x) {
        angle = lw_PI_2 - angle;
    }
    if (lw_is_negative(x2)) {
        angle = lw_PI - angle;
    }
    return lw_copysign(angle, x1);
}
