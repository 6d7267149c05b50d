// Division on the bits of floats (bits.wgsl says why), for divide and floor_divide.

// Returns x1 / x2 where at least one operand is zero, infinite or NaN.
fn lw_special_quotient(x1: f32, x2: f32) -> f32 {
    let sign = lw_product_sign(x1, x2);
    let a = lw_magnitude_bits(x1);
    let b = lw_magnitude_bits(x2);
    if ((a > lw_INFINITY_BITS) | (b > lw_INFINITY_BITS) | (a == b)) {
        return lw_nan_of(x1, x2);
    }
    return lw_from_bits(select(sign | lw_INFINITY_BITS, sign, (a == 0u) | (b == lw_INFINITY_BITS)));
}

// The quotient of two positive finite numbers, from their bits. Bit 4 of its mantissa is sticky: it is set if the exact
// quotient has any lower bit set. lw_pack drops at least 7 bits, so it rounds as if it had the lower bits, too.
// 1. Estimate the quotient of the mantissas as an integer of 26 bits, by the reciprocal of the divisor. That may err by
//    2.5 ulp, so the estimate is at most 25 off.
// 2. Correct the estimate by its exact remainder, computed in integers: by an estimated quotient of the remainder, and
//    by one more or less. A division of integers would take most of the time.
fn lw_quotient(a: u32, b: u32) -> LwUnpacked {
    var dividend = lw_unpack(a);
    let divisor = lw_unpack(b);
    if (dividend.mantissa < divisor.mantissa) {
        dividend = LwUnpacked(dividend.mantissa << 1u, dividend.exponent - 1);
    }
    let reciprocal = 1.0 / f32(divisor.mantissa);
    let start = u32(f32(dividend.mantissa) * reciprocal * 0x1p25);
    let remainder = bitcast<i32>((dividend.mantissa << 25u) - start * divisor.mantissa);
    var correction = i32(f32(remainder) * reciprocal);
    let rest = remainder - correction * i32(divisor.mantissa);
    let next = select(select(0, 1, rest >= i32(divisor.mantissa)), -1, rest < 0);
    correction += next;
    let exact = rest == next * i32(divisor.mantissa);
    let quotient = (bitcast<u32>(bitcast<i32>(start) + correction) << 1u) | select(1u, 0u, exact);
    return LwUnpacked(quotient << 4u, dividend.exponent - divisor.exponent - 30);
}
