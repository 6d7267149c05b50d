// 64-bit integers as (low word, high word).

fn lw_multiply_wide(a: u32, b: u32) -> vec2<u32> {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 16u);
    let cross = a0 * b1 + (middle & 0xffffu);
    return vec2<u32>((cross << 16u) | (low & 0xffffu), a1 * b1 + (middle >> 16u) + (cross >> 16u));
}

fn lw_add_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn lw_negate_wide(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(~a.x + 1u, ~a.y + select(0u, 1u, a.x == 0u));
}

fn lw_subtract_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn lw_shift_left_wide(a: vec2<u32>, n: u32) -> vec2<u32> {
    if (n == 0u) {
        return a;
    }
    if (n < 32u) {
        return vec2<u32>(a.x << n, (a.y << n) | (a.x >> (32u - n)));
    }
    return vec2<u32>(0u, select(0u, a.x << (n & 31u), n < 64u));
}

fn lw_shift_right_wide(a: vec2<u32>, n: u32) -> vec2<u32> {
    if (n == 0u) {
        return a;
    }
    if (n < 32u) {
        return vec2<u32>((a.x >> n) | (a.y << (32u - n)), a.y >> n);
    }
    return vec2<u32>(select(0u, a.y >> (n & 31u), n < 64u), 0u);
}

// a * 2^-n, with the lowest bit set if any bit was lost, so that a later rounding is correct.
fn lw_shift_right_sticky(a: vec2<u32>, n: u32) -> vec2<u32> {
    if (n >= 64u) {
        return vec2<u32>(select(0u, 1u, any(a != vec2<u32>())), 0u);
    }
    let shifted = lw_shift_right_wide(a, n);
    let back = lw_shift_left_wide(shifted, n);
    return vec2<u32>(shifted.x | select(0u, 1u, any(back != a)), shifted.y);
}

fn lw_leading_zeros_wide(a: vec2<u32>) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

fn lw_is_less_unsigned_wide(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

fn lw_is_less_wide(a: vec2<u32>, b: vec2<u32>) -> bool {
    let flip = vec2<u32>(0u, 0x80000000u);
    return lw_is_less_unsigned_wide(a ^ flip, b ^ flip);
}
