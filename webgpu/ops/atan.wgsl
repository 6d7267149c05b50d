// Beyond 1 pi/2 - atan(1 / |x|); from 1e8 on that is pi/2.
fn lw_atan_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let size = lw_magnitude(x);
    if (size > 1.0) {
        return lw_copysign(1.5707963267948966 - lw_arc_tan(1.0 / min(size, 1e8)), x);
    }
    return lw_copysign(lw_arc_tan(size), x);
}
