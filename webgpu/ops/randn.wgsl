// The steps and polynomials of core/ops/randn.h. lw_rounded protects each operation, so that the result has the bits of
// the CPU's, where multiplication and addition are rounded separately.
fn lw_randn_float32(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> f32 {
    let y_bits = bitcast<i32>(lw_random_word(i, seed, offset) ^ lw_SIGN_BIT);
    let size_bits = y_bits ^ (y_bits >> 31u);
    let tail_bits = size_bits ^ lw_INT32_MAX;
    let y = lw_rounded(lw_float32_of_int32(size_bits) + 0.5) * 0x1p-31;
    let tail_size = lw_rounded(lw_float32_of_int32(tail_bits) + 0.5) * 0x1p-31;
    let l = lw_randn_minus_log(lw_rounded(tail_size * lw_rounded(1.0 + y)));
    var ratio = lw_randn_center(lw_rounded(l - 1.0));
    if (l > 6.0) {
        ratio = lw_randn_tail(lw_rounded(lw_sqrt_float32(l) - 2.5));
    }
    return lw_copysign(y * ratio, bitcast<f32>(y_bits));
}

// x * y + z, rounded twice.
fn lw_randn_step(x: f32, y: f32, z: f32) -> f32 {
    return lw_rounded(lw_rounded(x * y) + z);
}

fn lw_float32_of_int32(x: i32) -> f32 {
    return lw_astype_int32_float32(x);
}

// -ln x for a normal x in (0, 1].
fn lw_randn_minus_log(x: f32) -> f32 {
    let parts = lw_log_parts(x);
    let f = parts.f;
    var q = 0x1.79ec62p-4f;
    q = lw_randn_step(q, f, -0x1.25ef64p-3f);
    q = lw_randn_step(q, f, 0x1.2e979ap-3f);
    q = lw_randn_step(q, f, -0x1.5330bp-3f);
    q = lw_randn_step(q, f, 0x1.9913b2p-3f);
    q = lw_randn_step(q, f, -0x1.000566p-2f);
    q = lw_randn_step(q, f, 0x1.555624p-2f);
    q = lw_randn_step(q, f, -0x1.fffffcp-2f);
    let curve = lw_rounded(lw_rounded(f * f) * q);
    return lw_rounded(lw_rounded(parts.k * -0x1.62e43p-1f) - lw_rounded(f + curve));
}

fn lw_randn_center(x: f32) -> f32 {
    var z = -0x1.1b223ap-27f;
    z = lw_randn_step(z, x, 0x1.315c36p-23f);
    z = lw_randn_step(z, x, -0x1.dcfa9cp-22f);
    z = lw_randn_step(z, x, -0x1.cab89ap-18f);
    z = lw_randn_step(z, x, 0x1.c6bb26p-15f);
    z = lw_randn_step(z, x, 0x1.2b8f4ep-13f);
    z = lw_randn_step(z, x, -0x1.b899a6p-9f);
    z = lw_randn_step(z, x, 0x1.89ed3cp-8f);
    z = lw_randn_step(z, x, 0x1.66e68ep-2f);
    return lw_randn_step(z, x, 0x1.982734p0f);
}

fn lw_randn_tail(x: f32) -> f32 {
    var z = 0x1.5e3c92p-16f;
    z = lw_randn_step(z, x, -0x1.39e0a6p-13f);
    z = lw_randn_step(z, x, 0x1.bda5eep-14f);
    z = lw_randn_step(z, x, 0x1.38846ep-9f);
    z = lw_randn_step(z, x, -0x1.80bc38p-7f);
    z = lw_randn_step(z, x, 0x1.d43acep-6f);
    z = lw_randn_step(z, x, -0x1.6d58ccp-5f);
    z = lw_randn_step(z, x, 0x1.981c48p-5f);
    z = lw_randn_step(z, x, 0x1.639ef6p0f);
    return lw_randn_step(z, x, 0x1.a6d9ecp1f);
}
