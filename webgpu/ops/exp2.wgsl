// 2^x = 2^k 2^(x - k), k = round(x), where x - k is exact. Error < 1.5 ulp, denormal results included.
fn lw_exp2_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let bounded = clamp(x, -152.0, 130.0);
    let k = floor(bounded + 0.5);
    return lw_exp_value(lw_exp2_parts(bounded - k, i32(k)));
}
