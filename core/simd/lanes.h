/* Primitives that GNU vectors provide on every instruction set: broadcasts, comparisons, selection, mask logic, bit
 * operations and lane shuffles. Arithmetic uses the plain operators. Included by the header of an instruction set. */
#pragma once

#include "simd/types.h"

/* <type>_set, which broadcasts a number, and <type>_eq, _ne, _lt, _le, _gt, _ge and _select. Comparisons follow
 * IEEE 754: all but _ne are false if an operand is NaN. Compilers turn the bitwise form of select into a blend
 * instruction. */
#define DEFINE_COMPARISONS(type, element, mask)                                                        \
    INLINE type(type##_set)(element x) { return x - (type){0}; } /* x - 0 is x, even for -0 and NaN */ \
    INLINE mask type##_eq(type a, type b) { return (mask)(a == b); }                                   \
    INLINE mask type##_ne(type a, type b) { return (mask)(a != b); }                                   \
    INLINE mask type##_lt(type a, type b) { return (mask)(a < b); }                                    \
    INLINE mask type##_le(type a, type b) { return (mask)(a <= b); }                                   \
    INLINE mask type##_gt(type a, type b) { return (mask)(a > b); }                                    \
    INLINE mask type##_ge(type a, type b) { return (mask)(a >= b); }

#define DEFINE_SELECT(type, mask) \
    INLINE type type##_select(mask m, type yes, type no) { return (type)((m & (mask)yes) | (~m & (mask)no)); }

DEFINE_COMPARISONS(vf32, float, vm32)
DEFINE_COMPARISONS(vi32, int32_t, vm32)
DEFINE_COMPARISONS(vu32, uint32_t, vm32)
DEFINE_COMPARISONS(vf64, double, vm64)
DEFINE_COMPARISONS(vi64, int64_t, vm64)
DEFINE_COMPARISONS(wf64, double, wm64)
DEFINE_COMPARISONS(wi64, int64_t, wm64)
DEFINE_SELECT(vi32, vm32)
DEFINE_SELECT(vu32, vm32)
DEFINE_SELECT(vi64, vm64)
DEFINE_SELECT(wf64, wm64)
DEFINE_SELECT(wi64, wm64)
#ifndef SIMD_OWN_SELECT
DEFINE_SELECT(vf32, vm32)
#endif

INLINE vm32 vm32_set(int x) { return vi32_set(x ? -1 : 0); }
INLINE vm32 vm32_and(vm32 a, vm32 b) { return a & b; }
INLINE vm32 vm32_or(vm32 a, vm32 b) { return a | b; }
INLINE vm32 vm32_xor(vm32 a, vm32 b) { return a ^ b; }
INLINE vm32 vm32_not(vm32 a) { return ~a; }
INLINE vi32 vm32_to_vi32(vm32 m) { return m & vi32_set(1); } /* 0 or 1 */

/* true is greater than false */
INLINE vm32 vm32_eq(vm32 a, vm32 b) { return ~(a ^ b); }
INLINE vm32 vm32_ne(vm32 a, vm32 b) { return a ^ b; }
INLINE vm32 vm32_lt(vm32 a, vm32 b) { return ~a & b; }
INLINE vm32 vm32_le(vm32 a, vm32 b) { return ~a | b; }
INLINE vm32 vm32_gt(vm32 a, vm32 b) { return a & ~b; }
INLINE vm32 vm32_ge(vm32 a, vm32 b) { return a | ~b; }
INLINE vm32 vm32_minimum(vm32 a, vm32 b) { return a & b; }
INLINE vm32 vm32_maximum(vm32 a, vm32 b) { return a | b; }

INLINE vm64 vm64_set(int x) { return vi64_set(x ? -1 : 0); }
INLINE vm64 vm64_and(vm64 a, vm64 b) { return a & b; }
INLINE vm64 vm64_or(vm64 a, vm64 b) { return a | b; }
INLINE vm64 vm64_xor(vm64 a, vm64 b) { return a ^ b; }
INLINE vm64 vm64_not(vm64 a) { return ~a; }
INLINE vi64 vm64_to_vi64(vm64 m) { return m & vi64_set(1); }

INLINE vi32 vf32_bits(vf32 x) { return (vi32)x; }
INLINE vf32 vf32_from_bits(vi32 x) { return (vf32)x; }
INLINE vi32 vi32_bits(vi32 x) { return x; }
INLINE vi32 vi32_from_bits(vi32 x) { return x; }
INLINE vu32 vi32_to_vu32(vi32 x) { return (vu32)x; }
INLINE vi32 vu32_to_vi32(vu32 x) { return (vi32)x; }

INLINE vi32 vi32_and(vi32 a, vi32 b) { return a & b; }
INLINE vi32 vi32_or(vi32 a, vi32 b) { return a | b; }
INLINE vi32 vi32_xor(vi32 a, vi32 b) { return a ^ b; }
INLINE vi32 vi32_not(vi32 a) { return ~a; }

/* Shifts are functions rather than operators, because in CUDA, vi32 is int32_t, and C++ does not define shifting a
 * negative int32_t left. */
INLINE vi32 vi32_shift_left(vi32 x, int n) { return x << n; }
INLINE vi32 vi32_shift_right(vi32 x, int n) { return x >> n; } /* fills with copies of the sign bit */
INLINE vu32 vu32_shift_right(vu32 x, int n) { return x >> n; }
/* Each lane shifts by its own count; a count below 0 or above 31 shifts every bit out. */
INLINE vi32 vi32_shift_left_each(vi32 x, vi32 n) {
    vm32 within = vu32_lt((vu32)n, vu32_set(32));
    return vi32_select(within, x << (n & 31), vi32_set(0));
}
INLINE vi32 vi32_shift_right_each(vi32 x, vi32 n) {
    return x >> vi32_select(vu32_lt((vu32)n, vu32_set(32)), n, vi32_set(31));
}
INLINE vi32 vi32_minimum(vi32 a, vi32 b) { return vi32_select(a < b, a, b); }
INLINE vi32 vi32_maximum(vi32 a, vi32 b) { return vi32_select(a > b, a, b); }
INLINE vi32 vi32_abs(vi32 x) { return vi32_select(x < 0, -x, x); } /* INT32_MIN stays INT32_MIN */

INLINE vi32 vi32_fma(vi32 x, vi32 y, vi32 z) { return x * y + z; }

INLINE vf32 vf32_abs(vf32 x) { return (vf32)((vi32)x & vi32_set(0x7fffffff)); }
INLINE vm32 vf32_isnan(vf32 x) { return (vm32)(x != x); }
INLINE vf64 vf64_abs(vf64 x) { return (vf64)((vi64)x & vi64_set(INT64_MAX)); }
INLINE vm64 vf64_isnan(vf64 x) { return (vm64)(x != x); }
/* The magnitude of x with the sign of s. */
INLINE vf32 vf32_copysign(vf32 x, vf32 s) {
    vi32 sign = vi32_set(INT32_MIN);
    return (vf32)(((vi32)x & ~sign) | ((vi32)s & sign));
}

/* The floor; -0 becomes 0.
 * 1. Adding and subtracting 2^52 with the sign of x rounds to the nearest integer.
 * 2. Subtract 1 if that rounded up.
 * If |x| >= 2^52, x is an integer already and is returned unchanged, as is NaN. */
INLINE wf64 wf64_floor(wf64 x) {
    const wf64 magic = wf64_set(0x1p52), zero = wf64_set(0);
    wf64 offset = wf64_select(wf64_lt(x, zero), -magic, magic);
    wf64 whole = (x + offset) - offset;
    whole = whole - wf64_select(wf64_gt(whole, x), wf64_set(1), zero);
    return wf64_select(wf64_lt(x, magic) & wf64_gt(x, -magic), whole, x);
}

/* The high halves of the 64-bit products. */
INLINE vu32 vu32_mul_high(vu32 a, vu32 b) {
    return __builtin_convertvector((__builtin_convertvector(a, wu64) * __builtin_convertvector(b, wu64)) >> 32, vu32);
}

INLINE vi32 vi32_iota(void) { /* 0, 1, 2 ... */
    vi32 lane;
    for (int i = 0; i < VF32_LANES; i++) {
        lane[i] = i;
    }
    return lane;
}

/* SHUFFLE(a, b, ...) returns lanes of a, numbered from 0, and of b, numbered from VF32_LANES. Of the 16 lanes that are
 * given, it takes as many as a register has. */
#if VF32_LANES == 16
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#elif VF32_LANES == 8
#define SHUFFLE(a, b, c, d, e, f, g, h, i, j, ...) __builtin_shufflevector(a, b, c, d, e, f, g, h, i, j)
#elif VF32_LANES == 4 /* numbers beyond the lanes are in branches for wider registers */
#define SHUFFLE(a, b, c, d, e, f, ...) __builtin_shufflevector(a, b, (c) % 8, (d) % 8, (e) % 8, (f) % 8)
#else
#define SHUFFLE(a, b, c, ...) __builtin_shufflevector(a, b, (c) % 2)
#endif

/* Lane i of slide_down(x, n) is lane i + n of x, for i < n; n is a constant power of two below the number of lanes.
 * To reduce one register by the halving tree, for any function combine:
 *     for (int n = VF32_LANES / 2; n; n /= 2) x = combine(x, vf32_slide_down(x, n)); */
INLINE vi32 vi32_slide_down(vi32 x, int n) {
    return n == 8   ? SHUFFLE(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)
           : n == 4 ? SHUFFLE(x, x, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7)
           : n == 2 ? SHUFFLE(x, x, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3)
                    : SHUFFLE(x, x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
}
INLINE vf32 vf32_slide_down(vf32 x, int n) { return (vf32)vi32_slide_down((vi32)x, n); }

/* even returns lanes 0, 2, 4 ... of a, then those of b; odd returns lanes 1, 3, 5 ... zip_low and zip_high are the
 * inverse: they return the lower and the upper half of a0 b0 a1 b1 ... With a single lane, even and zip_low return a;
 * odd and zip_high return b. */
enum { EVERY = VF32_LANES, HALF = (VF32_LANES + 1) / 2 };
INLINE vf32 vf32_even(vf32 a, vf32 b) {
    return SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
INLINE vf32 vf32_odd(vf32 a, vf32 b) {
    return SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
INLINE vf32 vf32_zip_low(vf32 a, vf32 b) {
    return SHUFFLE(a, b, 0, EVERY, 1, EVERY + 1, 2, EVERY + 2, 3, EVERY + 3, 4, EVERY + 4, 5, EVERY + 5, 6, EVERY + 6,
                   7, EVERY + 7);
}
INLINE vf32 vf32_zip_high(vf32 a, vf32 b) {
    enum { B = EVERY + HALF };
    return SHUFFLE(a, b, HALF, B, HALF + 1, B + 1, HALF + 2, B + 2, HALF + 3, B + 3, HALF + 4, B + 4, HALF + 5, B + 5,
                   HALF + 6, B + 6, HALF + 7, B + 7);
}

/* Copies lane n - 1 of every group of 2 n lanes to all lanes of the group; n is a constant power of two below the
 * number of lanes. For prefix sums over one register, add spread(x, n) to the upper half of each group, for n = 1, 2,
 * 4 ... */
INLINE vi32 vi32_spread(vi32 x, int n) {
    return n == 8   ? SHUFFLE(x, x, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)
           : n == 4 ? SHUFFLE(x, x, 3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11)
           : n == 2 ? SHUFFLE(x, x, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13)
                    : SHUFFLE(x, x, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14);
}
INLINE vf32 vf32_spread(vf32 x, int n) { return (vf32)vi32_spread((vi32)x, n); }

INLINE int32_t vi32_last(vi32 x) { return x[VF32_LANES - 1]; }
INLINE float vf32_last(vf32 x) { return x[VF32_LANES - 1]; }
INLINE float vf32_first(vf32 x) { return x[0]; }
INLINE int32_t vi32_first(vi32 x) { return x[0]; }
