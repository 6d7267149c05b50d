struct LwTrigParts {
    quadrant: u32, // n modulo 4
    r: f32,
}

// pi/2 in units of 2^-31.
const lw_PI_2_Q31 = 0xc90fdaa2u;

// |x| = n pi/2 + r, |r| <= pi/4, for a finite x. Uses the algorithm of Payne and Hanek (core/math/trig.h) for all
// |x| >= 1/2, because integer arithmetic is exact on every GPU. r is rounded once.
// 1. |x| = mantissa * 2^(exponent - 150), where exponent is the biased exponent of x.
// 2. Take 96 bits of 2/pi, starting at a bit that depends on the exponent. The bits before them contribute only
//    multiples of 4 to n.
// 3. Of the product of these bits with mantissa, keep 2 bits before the binary point and 62 after it.
// 4. Round the product to the nearest integer, n modulo 4. The remainder times pi/2 is r.
fn lw_trig_reduce(x: f32) -> LwTrigParts {
    let size = lw_magnitude(x);
    if (size < 0.5) {
        return LwTrigParts(0u, size);
    }
    // The bits of 2/pi, after 32 zeros.
    var two_over_pi = array<u32, 8>(
        0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu
    );
    let bits = bitcast<u32>(size);
    let mantissa = lw_mantissa(bits);
    let start = (bits >> 23u) - 120u;
    let word = start >> 5u;
    let shift = start & 31u;
    let first = (two_over_pi[word] << shift) | ((two_over_pi[word + 1u] >> 1u) >> (31u - shift));
    let second = (two_over_pi[word + 1u] << shift) | ((two_over_pi[word + 2u] >> 1u) >> (31u - shift));
    let third = (two_over_pi[word + 2u] << shift) | ((two_over_pi[word + 3u] >> 1u) >> (31u - shift));
    let middle = lw_multiply_wide(mantissa, second);
    let tail = vec2<u32>(lw_multiply_wide(mantissa, third).y, 0u);
    var product = lw_add_wide(vec2<u32>(middle.x, middle.y + mantissa * first), tail);

    let quadrant = (product.y + 0x20000000u) >> 30u;
    product.y -= quadrant << 30u;
    let negative = product.y >> 31u;
    if (negative == 1u) {
        product = lw_negate_wide(product);
    }
    let zeros = lw_leading_zeros_wide(product);
    let scaled = lw_multiply_wide(lw_shift_left_wide(product, zeros).y, lw_PI_2_Q31);
    let carry = scaled.y >> 31u;
    let r = lw_shift_right_sticky(scaled, 32u + carry);
    let exponent = i32(carry) - 29 - i32(zeros);
    return LwTrigParts(quadrant, lw_pack(negative << 31u, r.x, exponent));
}

// The minimax polynomials of core/math/trig.h.
fn lw_sin_minimax(r: f32) -> f32 {
    let z = r * r;
    var p = z * -0.0001950764562934637 + 0.008332105353474617;
    p = p * z - 0.16666653752326965;
    return r + p * z * r;
}

fn lw_cos_minimax(r: f32) -> f32 {
    let z = r * r;
    var q = z * 0.000024429633413092233 - 0.0013887295499444008;
    q = q * z + 0.04166664555668831;
    q = q * z - 0.5;
    return q * z + 1.0;
}

// x, negated if the sign bit of `bits` is set.
fn lw_trig_negate(x: f32, bits: u32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (bits & lw_SIGN_BIT));
}
