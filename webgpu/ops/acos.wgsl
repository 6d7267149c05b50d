fn lw_acos_float32(x: f32) -> f32 {
    if (lw_is_nan(x) || lw_magnitude(x) > 1.0) {
        return lw_from_bits(0x7fc00000u);
    }
    let found = lw_arc_sin(x);
    if (found.is_complement) {
        let angle = 2.0 * found.angle;
        return select(angle, 3.141592653589793 - angle, x < 0.0);
    }
    return 1.5707963267948966 - lw_copysign(found.angle, x);
}
