// Quotients by bits (bits.wgsl says why), for divide and floor_divide.

// Whether bits are those of a positive finite number.
fn lw_is_positive(bits: u32) -> bool {
    return bits - 1u < 0x7f7fffffu;
}

// The quotient where an operand is zero, infinite or NaN.
fn lw_limit_quotient(x1: f32, x2: f32) -> f32 {
    let sign = (bitcast<u32>(x1) ^ bitcast<u32>(x2)) & 0x80000000u;
    let a = bitcast<u32>(x1) & 0x7fffffffu;
    let b = bitcast<u32>(x2) & 0x7fffffffu;
    if (a > 0x7f800000u || b > 0x7f800000u || a == b) {
        return lw_nan_of(x1, x2);
    }
    return lw_from_bits(select(sign | 0x7f800000u, sign, a == 0u || b == 0x7f800000u));
}

// Of positive finite numbers by their bits, as lw_pack rounds it: WGSL's own division may err by 2.5 ulp and flushes
// denormals, so it only gives the start of the quotient of the mantissas, to 26 bits, which integers correct.
fn lw_quotient(a: u32, b: u32) -> LwUnpacked {
    var dividend = lw_unpack(a);
    let divisor = lw_unpack(b);
    if (dividend.mantissa < divisor.mantissa) {
        dividend = LwUnpacked(dividend.mantissa << 1u, dividend.exponent - 1);
    }
    let start = u32(f32(dividend.mantissa) / f32(divisor.mantissa) * 33554432.0);
    let rest = bitcast<i32>((dividend.mantissa << 25u) - start * divisor.mantissa);
    var correction = rest / i32(divisor.mantissa);
    correction -= select(0, 1, correction * i32(divisor.mantissa) > rest);
    let exact = correction * i32(divisor.mantissa) == rest;
    let quotient = (bitcast<u32>(bitcast<i32>(start) + correction) << 1u) | select(1u, 0u, exact);
    return LwUnpacked(quotient << 4u, dividend.exponent - divisor.exponent - 30);
}
