/* Argument reduction of sin, cos and tan far from 0, in float32. */
#pragma once

#include "element.h"

/* Step 2 of trig.h, in four parts, for lanes with |x| >= 2^16; the results of other lanes are meaningless.
 * 1. |x| = mantissa * 2^(8*index - 7) with an integer mantissa < 2^31.
 * 2. Take 96 bits of 2/pi, from bit 8*index of the table on; earlier bits add only multiples of 4 to the product.
 * 3. Of the product of these bits and mantissa, keep 2 bits before the binary point and 62 after it, in high and low.
 *    This is enough: no float32 is closer than 2^-30 to a multiple of pi/2.
 * 4. Round to the nearest integer, which gives the quadrant; the remainder, times pi/2 * 2^-62, is r. */
RARE trig_parts trig_reduce_far(vf32 size) {
    /* Word i has the 32 bits of 2/pi from bit 8*i on. Bit b stands for 2^(8 - b), so bits 0 to 8 are zeros. */
    static const uint32_t two_over_pi[] = {
        0x00517cc1, 0x517cc1b7, 0x7cc1b727, 0xc1b72722, 0xb727220a, 0x27220a94, 0x220a94fe, 0x0a94fe13,
        0x94fe13ab, 0xfe13abe8, 0x13abe8fa, 0xabe8fa9a, 0xe8fa9a6e, 0xfa9a6ee0, 0x9a6ee06d, 0x6ee06db1,
        0xe06db14a, 0x6db14acc, 0xb14acc9e, 0x4acc9e21, 0xcc9e21c8, 0x9e21c820,
    };
    vi32 bits = vf32_bits(size);
    vi32 index = vi32_shift_right(vi32_shift_right(bits, 23) - vi32_set(127 + 16), 3);
    index = vi32_minimum(vi32_maximum(index, vi32_set(0)), vi32_set(13)); /* in the table for every lane, even NaN */
    vi32 scaled = bits + vi32_set(7 << 23) - vi32_shift_left(index, 26);
    vu32 mantissa = vi32_to_vu32(vf32_to_vi32(vf32_from_bits(scaled)));
    vu32 first = vu32_lookup(two_over_pi, index);
    vu32 second = vu32_lookup(two_over_pi + 4, index);
    vu32 third = vu32_lookup(two_over_pi + 8, index);

    vu32 product = mantissa * second;
    vu32 sum = product + vu32_mul_high(mantissa, third);
    vi32 carry = vm32_to_vi32(vu32_lt(sum, product));
    vi32 high = vu32_to_vi32(mantissa * first + vu32_mul_high(mantissa, second)) + carry;
    vi32 low = vu32_to_vi32(sum);

    trig_parts parts;
    parts.quadrant = vi32_shift_right(high + vi32_set(1 << 29), 30);
    high = high - vi32_shift_left(parts.quadrant, 30) - vi32_shift_right(low, 31); /* from here on low is signed */
    wf64 fraction = vi32_to_wf64(high) * wf64_set(0x1p32) + vi32_to_wf64(low);
    parts.r = wf64_to_vf32(fraction * wf64_set(PI_2_HI_F64 * 0x1p-62)) + (size - size); /* NaN for infinity */
    return parts;
}
