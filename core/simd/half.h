/* Conversions between float32 and floats of 16 bits: a sign, 15 - fraction bits of exponent, and `fraction` bits. They
 * are for a fraction that no instruction converts. Of 10, it is float16. */
#pragma once

#define HALF_BIAS(fraction) ((1 << (14 - (fraction))) - 1)

/* float32 from the bits of a half in the low part of each lane. A denormal half is computed from its mantissa: give it
 * the exponent of the smallest normal half, then subtract that half. No denormal float32 occurs, so the result is right
 * even if the processor flushes denormals to zero. */
INLINE vf32 portable_from_half(vi32 half, int fraction) {
    int shift = 23 - fraction, bias = HALF_BIAS(fraction), infinity = 0x7fff >> fraction << fraction;
    vi32 magnitude = (half & 0x7fff) << shift;
    vi32 normal = magnitude + ((127 - bias) << 23), smallest = vi32_set((128 - bias) << 23);
    vf32 tiny = vf32_from_bits(magnitude + smallest) - vf32_from_bits(smallest);
    vi32 special = magnitude | (0xff << 23);
    vi32 result = vi32_select((half & infinity) == 0, vf32_bits(tiny), normal);
    result = vi32_select((half & infinity) == infinity, special, result);
    return vf32_from_bits(result | (half & 0x8000) << 16);
}

/* Bits of the nearest half, ties to even.
 * 1. Below the smallest normal half: adding a power of two aligns the last bit of the float32 with that of a denormal
 *    half, so the addition rounds.
 * 2. Above: add half of the last bit that is kept, less 1, plus that bit, then shift; a carry may overflow to
 *    infinity.
 * 3. NaN becomes quiet and keeps the top of its payload, as in hardware.
 * Source: Giesen, "float->half variants", 2012. */
INLINE vi32 portable_to_half(vf32 x, int fraction) {
    int shift = 23 - fraction, bias = HALF_BIAS(fraction), infinity = 0x7fff >> fraction << fraction;
    vi32 size = vf32_bits(x) & 0x7fffffff, aligning = vi32_set((127 - bias + 1 + shift) << 23);
    vi32 normal = (size - ((127 - bias) << 23) + ((1 << (shift - 1)) - 1) + ((size >> shift) & 1)) >> shift;
    vi32 tiny = vf32_bits(vf32_from_bits(size) + vf32_from_bits(aligning)) - aligning;
    vi32 nan = infinity | 1 << (fraction - 1) | ((size >> shift) & ((1 << fraction) - 1));
    vi32 result = vi32_select(size < ((128 - bias) << 23), tiny, normal);
    result = vi32_select(size >= ((128 + bias) << 23), vi32_set(infinity), result);
    result = vi32_select(size > (255 << 23), nan, result);
    return result | ((vf32_bits(x) >> 16) & 0x8000);
}
