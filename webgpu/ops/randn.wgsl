// The steps and polynomials of core/ops/randn.h. Each operation is rounded as on the CPU, so that the result has the
// same bits.
fn lw_randn_float32(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> f32 {
    return lw_randn_of_word(lw_random_word(i, seed, offset));
}

fn lw_randn_float32_four(i: u32, seed: vec2<u32>, offset: vec2<u32>) -> vec4<f32> {
    let words = lw_random_four(i, seed, offset);
    return vec4<f32>(lw_randn_of_word(words.x), lw_randn_of_word(words.y), lw_randn_of_word(words.z),
                     lw_randn_of_word(words.w));
}

fn lw_randn_of_word(word: u32) -> f32 {
    let y_bits = bitcast<i32>(word ^ lw_SIGN_BIT);
    let size_bits = bitcast<u32>(y_bits ^ (y_bits >> 31u));
    let y = lw_randn_fraction(size_bits);
    let l = lw_randn_minus_log(lw_randn_fraction(size_bits ^ 0x7fffffffu) * lw_rounded(1.0 + y));
    var ratio = lw_randn_center(lw_multiply_then_add(l, 1.0, -1.0));
    if (l > 6.0) {
        ratio = lw_randn_tail(lw_rounded(lw_sqrt_float32(l) - 2.5));
    }
    return lw_copysign(y * ratio, bitcast<f32>(y_bits));
}

// (x + 1/2) 2^-31 for x < 2^31, where x is first rounded to 24 bits: both parts of the sum are exact.
fn lw_randn_fraction(x: u32) -> f32 {
    let rounded = fma(f32(x >> 8u), 256.0, f32(x & 255u));
    return lw_multiply_then_add(rounded, 1.0, 0.5) * 0x1p-31;
}

// -ln x for a normal x in (0, 1]. The first steps are those of log_split() in core/math/log.h.
fn lw_randn_minus_log(x: f32) -> f32 {
    let bits = bitcast<i32>(x);
    let k = (bits - 0x3f3504f3) >> 23u;
    let f = lw_rounded(bitcast<f32>(bits - (k << 23u)) - 1.0);
    var q = 0x1.79ec62p-4f;
    q = lw_multiply_then_add(q, f, -0x1.25ef64p-3f);
    q = lw_multiply_then_add(q, f, 0x1.2e979ap-3f);
    q = lw_multiply_then_add(q, f, -0x1.5330bp-3f);
    q = lw_multiply_then_add(q, f, 0x1.9913b2p-3f);
    q = lw_multiply_then_add(q, f, -0x1.000566p-2f);
    q = lw_multiply_then_add(q, f, 0x1.555624p-2f);
    q = lw_multiply_then_add(q, f, -0x1.fffffcp-2f);
    return lw_multiply_then_add(f32(k), -0x1.62e43p-1f, -lw_multiply_then_add(lw_rounded(f * f), q, f));
}

fn lw_randn_center(x: f32) -> f32 {
    var z = -0x1.1b223ap-27f;
    z = lw_multiply_then_add(z, x, 0x1.315c36p-23f);
    z = lw_multiply_then_add(z, x, -0x1.dcfa9cp-22f);
    z = lw_multiply_then_add(z, x, -0x1.cab89ap-18f);
    z = lw_multiply_then_add(z, x, 0x1.c6bb26p-15f);
    z = lw_multiply_then_add(z, x, 0x1.2b8f4ep-13f);
    z = lw_multiply_then_add(z, x, -0x1.b899a6p-9f);
    z = lw_multiply_then_add(z, x, 0x1.89ed3cp-8f);
    z = lw_multiply_then_add(z, x, 0x1.66e68ep-2f);
    return lw_multiply_then_add(z, x, 0x1.982734p0f);
}

fn lw_randn_tail(x: f32) -> f32 {
    var z = 0x1.5e3c92p-16f;
    z = lw_multiply_then_add(z, x, -0x1.39e0a6p-13f);
    z = lw_multiply_then_add(z, x, 0x1.bda5eep-14f);
    z = lw_multiply_then_add(z, x, 0x1.38846ep-9f);
    z = lw_multiply_then_add(z, x, -0x1.80bc38p-7f);
    z = lw_multiply_then_add(z, x, 0x1.d43acep-6f);
    z = lw_multiply_then_add(z, x, -0x1.6d58ccp-5f);
    z = lw_multiply_then_add(z, x, 0x1.981c48p-5f);
    z = lw_multiply_then_add(z, x, 0x1.639ef6p0f);
    return lw_multiply_then_add(z, x, 0x1.a6d9ecp1f);
}
