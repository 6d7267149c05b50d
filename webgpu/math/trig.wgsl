struct LwQuarterTurns {
    count: u32, // n modulo 4
    rest: f32,  // r
}

// |x| = n pi/2 + r, |r| <= pi/4, for a finite x. Everywhere in integers (Payne and Hanek, 1983), which is exact on
// every GPU: a size is mantissa 2^(exponent - 150), and only 96 bits of 2/pi count, from where the exponent says on;
// those before give multiples of 4. Of the product, 2 bits stand before the point and 62 after it. r is rounded once.
fn lw_quarter_turns(x: f32) -> LwQuarterTurns {
    let size = lw_magnitude(x);
    if (size < 0.5) {
        return LwQuarterTurns(0u, size);
    }
    // 2/pi after 32 zeros.
    var words = array<u32, 8>(
        0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu
    );
    let bits = bitcast<u32>(size);
    let mantissa = (bits & 0x007fffffu) | 0x00800000u;
    let start = (bits >> 23u) - 120u;
    let word = start >> 5u;
    let shift = start & 31u;
    let first = (words[word] << shift) | ((words[word + 1u] >> 1u) >> (31u - shift));
    let second = (words[word + 1u] << shift) | ((words[word + 2u] >> 1u) >> (31u - shift));
    let third = (words[word + 2u] << shift) | ((words[word + 3u] >> 1u) >> (31u - shift));
    let middle = lw_multiply_wide(mantissa, second);
    let tail = vec2<u32>(lw_multiply_wide(mantissa, third).y, 0u);
    var turns = lw_add_wide(vec2<u32>(middle.x, middle.y + mantissa * first), tail);

    let count = (turns.y + 0x20000000u) >> 30u;
    turns.y -= count << 30u;
    let negative = turns.y >> 31u;
    if (negative == 1u) {
        turns = lw_negate_wide(turns);
    }
    let zeros = lw_leading_zeros_wide(turns);
    let product = lw_multiply_wide(lw_shift_left_wide(turns, zeros).y, 0xc90fdaa2u); // pi/2 2^31
    let rest = lw_shift_right_sticky(product, select(32u, 33u, product.y > 0x7fffffffu));
    let exponent = select(-29, -28, product.y > 0x7fffffffu) - i32(zeros);
    return LwQuarterTurns(count, lw_pack(negative << 31u, rest.x, exponent));
}

// Polynomials as in core/math/trig.h.
fn lw_sin_near(r: f32) -> f32 {
    let z = r * r;
    var p = z * -0.0001950764562934637 + 0.008332105353474617;
    p = p * z - 0.16666653752326965;
    return r + p * z * r;
}

fn lw_cos_near(r: f32) -> f32 {
    let z = r * r;
    var q = z * 0.000024429633413092233 - 0.0013887295499444008;
    q = q * z + 0.04166664555668831;
    q = q * z - 0.5;
    return q * z + 1.0;
}

// x, negated where `bits` has its highest bit.
fn lw_negate_by(x: f32, bits: u32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (bits & 0x80000000u));
}
