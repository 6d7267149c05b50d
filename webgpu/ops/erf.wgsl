// x + x p(x^2) below 1, p a minimax polynomial of relative error 4.1e-8; elsewhere 1 - e^y, with y = -|x| q(|x|) as in
// core/ops/erf.h. Denormal numbers are multiplied by 2 / sqrt(pi) as the integers that their bits are.
fn lw_erf_float32(x: f32) -> f32 {
    if (lw_is_nan(x)) {
        return x;
    }
    let size = lw_magnitude(x);
    let bits = bitcast<u32>(size);
    if (bits < 0x00800000u) {
        return lw_copysign(bitcast<f32>(bits + lw_multiply_wide(bits, 551384233u).y), x);
    }
    if (size < 1.0) {
        let z = x * x;
        var p = z * -0.0005619972944259644 + 0.00491491612046957;
        p = p * z - 0.026709217578172684;
        p = p * z + 0.11280113458633423;
        p = p * z - 0.37612318992614746;
        p = p * z + 0.12837912142276764;
        return x + x * p;
    }
    let end = min(size, 4.0);
    var q = end * 3.571311026462354e-05 - 0.000347752938978374;
    q = q * end + 0.0011687702499330044;
    q = q * end + 0.00030359660740941763;
    q = q * end - 0.019378067925572395;
    q = q * end + 0.10282903909683228;
    q = q * end + 0.6366151571273804;
    q = q * end + 1.128379225730896;
    return lw_copysign(1.0 - lw_power_value(lw_power_of_e(-end * q)), x);
}
