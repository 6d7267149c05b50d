/* Primitives that move lanes. */
#pragma once

#include "simd/lanes.h"

/* SHUFFLE_<n>(a, b, ...) returns n lanes of a, numbered from 0, and of b, numbered from n: of the 16 numbers that are
 * given, the first n. Numbers that no lane has are in branches for wider registers. */
#define SHUFFLE_16(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE_8(a, b, c, d, e, f, g, h, i, j, ...) \
    __builtin_shufflevector(a, b, (c) % 16, (d) % 16, (e) % 16, (f) % 16, (g) % 16, (h) % 16, (i) % 16, (j) % 16)
#define SHUFFLE_4(a, b, c, d, e, f, ...) __builtin_shufflevector(a, b, (c) % 8, (d) % 8, (e) % 8, (f) % 8)
#define SHUFFLE_2(a, b, c, d, ...) __builtin_shufflevector(a, b, (c) % 4, (d) % 4)
#define SHUFFLE_1(a, b, c, ...) __builtin_shufflevector(a, b, (c) % 2)
#if VF32_LANES == 16
#define SHUFFLE_32 SHUFFLE_16
#define SHUFFLE_64 SHUFFLE_8
#elif VF32_LANES == 8
#define SHUFFLE_32 SHUFFLE_8
#define SHUFFLE_64 SHUFFLE_4
#elif VF32_LANES == 4
#define SHUFFLE_32 SHUFFLE_4
#define SHUFFLE_64 SHUFFLE_2
#else
#define SHUFFLE_32 SHUFFLE_1
#define SHUFFLE_64 SHUFFLE_1
#endif

/* Lane i of slide_down(x, n) is lane i + n of x, for i < n; n is a constant power of two below the number of lanes.
 * To reduce one register by the halving tree, for any function combine:
 *     for (int n = lanes / 2; n; n /= 2) x = combine(x, slide_down(x, n));
 *
 * spread(x, n) copies lane n - 1 of every group of 2 n lanes to all lanes of the group. For prefix sums over one
 * register, add spread(x, n) to the upper half of each group, for n = 1, 2, 4 ...
 *
 * even returns lanes 0, 2, 4 ... of a, then those of b; odd returns lanes 1, 3, 5 ... zip_low and zip_high are the
 * inverse: they return the lower and the upper half of a0 b0 a1 b1 ... With a single lane, even and zip_low return a;
 * odd and zip_high return b.
 *
 * swap(x, n) exchanges lanes i and i ^ n. n is a constant below the number of lanes, a power of two or one less than
 * that. */
#define DEFINE_SHUFFLES(type, shuffle, lane_count)                                                                     \
    INLINE type type##_slide_down(type x, int n) {                                                                     \
        return n == 8   ? shuffle(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)                    \
               : n == 4 ? shuffle(x, x, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7)                                \
               : n == 2 ? shuffle(x, x, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3)                                \
                        : shuffle(x, x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);                               \
    }                                                                                                                  \
    INLINE type type##_spread(type x, int n) {                                                                         \
        return n == 8   ? shuffle(x, x, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)                                \
               : n == 4 ? shuffle(x, x, 3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11)                        \
               : n == 2 ? shuffle(x, x, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13)                            \
                        : shuffle(x, x, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14);                         \
    }                                                                                                                  \
    INLINE type type##_swap(type x, int n) {                                                                           \
        return n == 15  ? shuffle(x, x, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)                          \
               : n == 8 ? shuffle(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)                          \
               : n == 7 ? shuffle(x, x, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)                          \
               : n == 4 ? shuffle(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)                          \
               : n == 3 ? shuffle(x, x, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)                          \
               : n == 2 ? shuffle(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)                          \
                        : shuffle(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);                         \
    }                                                                                                                  \
    INLINE type type##_even(type a, type b) {                                                                          \
        return shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);                               \
    }                                                                                                                  \
    INLINE type type##_odd(type a, type b) {                                                                           \
        return shuffle(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);                               \
    }                                                                                                                  \
    INLINE type type##_zip_low(type a, type b) {                                                                       \
        enum { B = lane_count };                                                                                       \
        return shuffle(a, b, 0, B, 1, B + 1, 2, B + 2, 3, B + 3, 4, B + 4, 5, B + 5, 6, B + 6, 7, B + 7);              \
    }                                                                                                                  \
    INLINE type type##_zip_high(type a, type b) {                                                                      \
        enum { A = (lane_count + 1) / 2, B = lane_count + A };                                                         \
        return shuffle(a, b, A, B, A + 1, B + 1, A + 2, B + 2, A + 3, B + 3, A + 4, B + 4, A + 5, B + 5, A + 6, B + 6, \
                       A + 7, B + 7);                                                                                  \
    }

DEFINE_SHUFFLES(vf32, SHUFFLE_32, VF32_LANES)
DEFINE_SHUFFLES(vi32, SHUFFLE_32, VF32_LANES)
DEFINE_SHUFFLES(vu32, SHUFFLE_32, VF32_LANES)
DEFINE_SHUFFLES(vf64, SHUFFLE_64, VF64_LANES)
DEFINE_SHUFFLES(vi64, SHUFFLE_64, VF64_LANES)
DEFINE_SHUFFLES(vu64, SHUFFLE_64, VF64_LANES)

/* Of lanes of 1 and 2 bytes, which are moved in lanes of 4 bytes. */
#define DEFINE_NARROW_SLIDE(type)                                                                    \
    INLINE type type##_slide_down(type x, int n) {                                                   \
        int bytes = n * (int)sizeof x[0];                                                            \
        return bytes < 4 ? (type)((vu32)x >> 8 * bytes) : (type)vi32_slide_down((vi32)x, bytes / 4); \
    }

DEFINE_NARROW_SLIDE(vi8)
DEFINE_NARROW_SLIDE(vu8)
DEFINE_NARROW_SLIDE(vi16)
DEFINE_NARROW_SLIDE(vu16)
