/* Primitives in plain GNU vectors, for instruction sets that have no instruction for them. The header of a set that has
 * one defines SIMD_OWN_... or SIMD_SCALE, and the primitives. */
#pragma once

#include "simd/double_fma.h"
#include "simd/lanes.h"
#include "simd/shuffles.h"

/* x*y + z, rounded once.
 * 1. The product of two floats is exact in double.
 * 2. Add z, rounding to odd: if the sum is inexact, take the neighbor whose last bit is 1. Knuth's two-sum gives the
 *    rounding error; if an operand is infinite, that error is NaN, and the sum is left as it is.
 * 3. Rounding the result of step 2 to float equals rounding the exact sum once, because 53 bits >= 24 + 2 bits.
 * Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57, 2008. */
INLINE vf32 portable_fma_strict(vf32 x, vf32 y, vf32 z) {
    const wf64 zero = wf64_set(0.0);
    wf64 product = __builtin_convertvector(x, wf64) * __builtin_convertvector(y, wf64);
    wf64 addend = __builtin_convertvector(z, wf64);
    wf64 sum = product + addend;
    wf64 part = sum - product;
    wf64 lost = (product - (sum - part)) + (addend - part);
    wm64 inexact = wf64_lt(lost, zero) | wf64_gt(lost, zero);
    wm64 even = ((wi64)sum & 1) == (wi64)zero;
    wm64 inwards = wf64_gt(lost, zero) ^ wf64_gt(sum, zero); /* the sum was rounded away from 0: step towards 0 */
    wi64 step = wi64_select(inwards, wi64_set(-1), wi64_set(1)) & inexact & even;
    return __builtin_convertvector((wf64)((wi64)sum + step), vf32);
}
INLINE vf64 portable_fma_strict_64(vf64 x, vf64 y, vf64 z) {
    for (int lane = 0; lane < VF64_LANES; lane++) {
        z[lane] = portable_double_fma(x[lane], y[lane], z[lane]);
    }
    return z;
}
#ifndef SIMD_OWN_FMA
INLINE vf32 vf32_fma(vf32 x, vf32 y, vf32 z) { return x * y + z; }
INLINE vf32 vf32_fma_strict(vf32 x, vf32 y, vf32 z) { return portable_fma_strict(x, y, z); }
INLINE vf32 vf32_add_on_fma_unit(vf32 x, vf32 y) { return x + y; }
INLINE vf64 vf64_fma(vf64 x, vf64 y, vf64 z) { return x * y + z; }
INLINE vf64 vf64_fma_strict(vf64 x, vf64 y, vf64 z) { return portable_fma_strict_64(x, y, z); }
INLINE vf64 vf64_add_on_fma_unit(vf64 x, vf64 y) { return x + y; }
#endif

/* minimum and maximum of IEEE 754-2019: NaN if an operand is NaN, and -0 is below +0. The two selections differ only
 * for zeros of different sign, whose bits are combined, and for NaN, where a + b replaces the result. */
#define DEFINE_MINIMUM(T)                                                                                       \
    INLINE T T##_minimum(T a, T b) {                                                                            \
        T ordered =                                                                                             \
            T##_from_bits(T##_bits(T##_select(T##_lt(a, b), a, b)) | T##_bits(T##_select(T##_lt(b, a), b, a))); \
        return T##_select(T##_isnan(a) | T##_isnan(b), a + b, ordered);                                         \
    }                                                                                                           \
    INLINE T T##_maximum(T a, T b) {                                                                            \
        T ordered =                                                                                             \
            T##_from_bits(T##_bits(T##_select(T##_gt(a, b), a, b)) & T##_bits(T##_select(T##_gt(b, a), b, a))); \
        return T##_select(T##_isnan(a) | T##_isnan(b), a + b, ordered);                                         \
    }

/* Bounds x by a number; a NaN x stays NaN. */
#define DEFINE_BOUNDS(T)                                                             \
    INLINE T T##_at_least(T x, T low) { return T##_select(T##_gt(low, x), low, x); } \
    INLINE T T##_at_most(T x, T high) { return T##_select(T##_lt(high, x), high, x); }

/* Rounding to integers. Adding `magic`, 2^23 or 2^52, leaves no bits for a fraction, so the addition rounds, half to
 * even. If |x| >= magic, x is an integer and is returned unchanged, as is NaN. Copying the sign of x keeps -0. */
#define DEFINE_ROUNDING(T, magic)                                                                 \
    INLINE T T##_whole(T x, T size, T rounded) {                                                  \
        return T##_select(T##_lt(size, T##_set(magic)), T##_copysign(rounded, x), x);             \
    }                                                                                             \
    INLINE T T##_round(T x) {                                                                     \
        T size = T##_abs(x);                                                                      \
        return T##_whole(x, size, (size + T##_set(magic)) - T##_set(magic));                      \
    }                                                                                             \
    INLINE T T##_trunc(T x) {                                                                     \
        T size = T##_abs(x), near = (size + T##_set(magic)) - T##_set(magic);                     \
        return T##_whole(x, size, near - T##_select(T##_gt(near, size), T##_set(1), T##_set(0))); \
    }                                                                                             \
    INLINE T T##_floor(T x) {                                                                     \
        T whole = T##_trunc(x);                                                                   \
        return whole - T##_select(T##_gt(whole, x), T##_set(1), T##_set(0));                      \
    }                                                                                             \
    INLINE T T##_ceil(T x) { return -T##_floor(-x); }

/* Whether some lane, or each, is true. */
#define DEFINE_ANY(M, T, lane_count)                                       \
    INLINE int M##_any(M m) {                                              \
        for (int n = lane_count / 2; n; n /= 2) m |= T##_slide_down(m, n); \
        return m[0] != 0;                                                  \
    }                                                                      \
    INLINE int M##_all(M m) { return !M##_any(~m); }

#ifndef SIMD_OWN_MINIMUM
DEFINE_MINIMUM(vf32)
DEFINE_MINIMUM(vf64)
#endif
#ifndef SIMD_OWN_BOUNDS
DEFINE_BOUNDS(vf32)
DEFINE_BOUNDS(vf64)
#endif
#ifndef SIMD_OWN_ROUNDING
DEFINE_ROUNDING(vf32, 0x1p23f)
DEFINE_ROUNDING(vf64, 0x1p52)
#endif
#ifndef SIMD_OWN_ANY
DEFINE_ANY(vm32, vi32, VF32_LANES)
DEFINE_ANY(vm64, vi64, VF64_LANES)
#endif

/* scale: x * 2^k, k = k_magic - SIMD_ROUND_MAGIC in [-252, 254] (64 bits: [-2044, 2046]), by two factors that are
 * normal numbers. Rounds once for |x| in [2^-24, 2^24], where only the second product can be denormal.
 * scale_normal: x * 2^k if x and the result are normal numbers, by adding k to x's exponent bits. The result for NaN is
 * undefined. */
#define DEFINE_SCALE(F, I, mantissa, bias)                                                   \
    INLINE F F##_scale(F x, F k_magic) {                                                     \
        const I one = I##_set(bias) << mantissa;                                             \
        I power = F##_bits(k_magic) << mantissa, half = power >> (mantissa + 1) << mantissa; \
        return x * F##_from_bits(half + one) * F##_from_bits(power - half + one);            \
    }                                                                                        \
    INLINE F F##_scale_normal(F x, F k_magic) { return F##_from_bits(F##_bits(x) + (F##_bits(k_magic) << mantissa)); }
#ifndef SIMD_SCALE
DEFINE_SCALE(vf32, vi32, 23, 127)
DEFINE_SCALE(vf64, vi64, 52, 1023)
#endif

INLINE vf32 vf32_power_of_two(vf32 k_magic) { return vf32_from_bits(vf32_bits(k_magic) << 23); }
INLINE vf64 vf64_power_of_two(vf64 k_magic) { return vf64_from_bits(vf64_bits(k_magic) << 52); }

INLINE vf64 vi64_to_vf64(vi64 x) { return __builtin_convertvector(x, vf64); }
/* The same for |x| <= 2^51, in two instructions. */
INLINE vf64 vi64_small_to_vf64(vi64 x) {
    const vf64 magic = vf64_set(SIMD_ROUND_MAGIC_64);
    return vf64_from_bits(x + vf64_bits(magic)) - magic;
}

#ifndef SIMD_OWN_LOOKUP
INLINE vu32 vu32_lookup(const uint32_t *table, vi32 i) {
    vu32 result;
    for (int lane = 0; lane < VF32_LANES; lane++) {
        result[lane] = table[i[lane]];
    }
    return result;
}
#endif

/* AVX2's gather takes longer than these loads. */
#define DEFINE_LOOKUP(type, element)                          \
    INLINE type type##_lookup(const element *table, vi64 i) { \
        type result;                                          \
        for (int lane = 0; lane < VF64_LANES; lane++) {       \
            result[lane] = table[i[lane]];                    \
        }                                                     \
        return result;                                        \
    }
DEFINE_LOOKUP(vi64, int64_t)
DEFINE_LOOKUP(vf64, double)

/* Loads both elements of a row at once: with two lanes, that is a register. */
#ifndef SIMD_OWN_LOOKUP_PAIR
INLINE void vf64_lookup_pair(const double (*table)[2], vi64 i, vf64 *first, vf64 *second) {
#if VF64_LANES == 2
    vf64 rows[2];
    for (int lane = 0; lane < 2; lane++) {
        __builtin_memcpy(rows + lane, table[i[lane]], sizeof *rows);
    }
    *first = vf64_even(rows[0], rows[1]);
    *second = vf64_odd(rows[0], rows[1]);
#else
    for (int lane = 0; lane < VF64_LANES; lane++) {
        (*first)[lane] = table[i[lane]][0];
        (*second)[lane] = table[i[lane]][1];
    }
#endif
}
#endif

#include "simd/half.h"

#ifndef SIMD_OWN_FLOAT16
INLINE vf32 vf32_from_float16(nu16 x) { return portable_from_half(__builtin_convertvector(x, vi32), 10); }
INLINE nu16 vf32_to_float16(vf32 x) { return __builtin_convertvector(portable_to_half(x, 10), nu16); }
#endif

/* Partial loads and stores (memory.h). They copy through char pointers, because a float pointer promises the compiler
 * alignment. */
#define DEFINE_PARTIAL_MEMORY(type, element)                                                                    \
    INLINE type type##_load_partial(const element *p, int n, type pad) {                                        \
        enum { COUNT = sizeof(type) / sizeof(element) };                                                        \
        element items[COUNT];                                                                                   \
        __builtin_memcpy(items, &pad, sizeof pad);                                                              \
        for (int i = 0; i < n && i < COUNT; i++) __builtin_memcpy(items + i, (const char *)(p + i), sizeof *p); \
        __builtin_memcpy(&pad, items, sizeof pad);                                                              \
        return pad;                                                                                             \
    }                                                                                                           \
    INLINE void type##_store_partial(element *p, type x, int n) {                                               \
        enum { COUNT = sizeof(type) / sizeof(element) };                                                        \
        element items[COUNT];                                                                                   \
        __builtin_memcpy(items, &x, sizeof x);                                                                  \
        for (int i = 0; i < n && i < COUNT; i++) __builtin_memcpy((char *)(p + i), items + i, sizeof *p);       \
    }

#ifndef SIMD_OWN_PARTIAL
DEFINE_PARTIAL_MEMORY(vf32, float)
DEFINE_PARTIAL_MEMORY(vi32, int32_t)
DEFINE_PARTIAL_MEMORY(vf64, double)
DEFINE_PARTIAL_MEMORY(vi64, int64_t)
#endif
#ifndef SIMD_OWN_NARROW_PARTIAL
DEFINE_PARTIAL_MEMORY(vi8, int8_t)
DEFINE_PARTIAL_MEMORY(vi16, int16_t)
#endif
