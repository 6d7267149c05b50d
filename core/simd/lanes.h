/* Primitives that GNU vectors provide on every instruction set: broadcasts, comparisons, selection, mask logic, bit
 * operations. Arithmetic uses the plain operators. Included by the header of an instruction set. */
#pragma once

#include "simd/types.h"

/* <type>_set, which broadcasts a number, and <type>_eq, _ne, _lt, _le, _gt, _ge and _select. Comparisons follow
 * IEEE 754: all but _ne are false if an operand is NaN. Compilers turn the bitwise form of select into a blend
 * instruction. */
#define DEFINE_EQUALITY(type, element, mask)                                                           \
    INLINE type(type##_set)(element x) { return x - (type){0}; } /* x - 0 is x, even for -0 and NaN */ \
    INLINE mask type##_eq(type a, type b) { return (mask)(a == b); }                                   \
    INLINE mask type##_ne(type a, type b) { return (mask)(a != b); }
#define DEFINE_ORDER(type, mask, ordered)                                              \
    INLINE mask type##_lt(type a, type b) { return (mask)(ordered(a) < ordered(b)); }  \
    INLINE mask type##_le(type a, type b) { return (mask)(ordered(a) <= ordered(b)); } \
    INLINE mask type##_gt(type a, type b) { return (mask)(ordered(a) > ordered(b)); }  \
    INLINE mask type##_ge(type a, type b) { return (mask)(ordered(a) >= ordered(b)); }
#define DEFINE_COMPARISONS(type, element, mask) \
    DEFINE_EQUALITY(type, element, mask)        \
    DEFINE_ORDER(type, mask, )

#define DEFINE_SELECT(type, mask) \
    INLINE type type##_select(mask m, type yes, type no) { return (type)((m & (mask)yes) | (~m & (mask)no)); }

DEFINE_COMPARISONS(vf32, float, vm32)
DEFINE_COMPARISONS(vi32, int32_t, vm32)
DEFINE_COMPARISONS(vu32, uint32_t, vm32)
DEFINE_COMPARISONS(vf64, double, vm64)
DEFINE_COMPARISONS(vi64, int64_t, vm64)
DEFINE_EQUALITY(vu64, uint64_t, vm64)
#ifdef SIMD_SIGNED_ORDER_64 /* the set compares lanes of 64 bits only as signed integers */
INLINE vi64 vu64_ordered(vu64 x) { return (vi64)x ^ vi64_set(INT64_MIN); }
DEFINE_ORDER(vu64, vm64, vu64_ordered)
#else
DEFINE_ORDER(vu64, vm64, )
#endif
DEFINE_COMPARISONS(vi8, int8_t, vm8)
DEFINE_COMPARISONS(vu8, uint8_t, vm8)
DEFINE_COMPARISONS(vi16, int16_t, vm16)
DEFINE_COMPARISONS(vu16, uint16_t, vm16)
DEFINE_COMPARISONS(wf64, double, wm64)
DEFINE_COMPARISONS(wi64, int64_t, wm64)
DEFINE_COMPARISONS(wu64, uint64_t, wm64)
DEFINE_SELECT(vi32, vm32)
DEFINE_SELECT(vu32, vm32)
DEFINE_SELECT(vi64, vm64)
DEFINE_SELECT(vu64, vm64)
DEFINE_SELECT(vi8, vm8)
DEFINE_SELECT(vu8, vm8)
DEFINE_SELECT(vi16, vm16)
DEFINE_SELECT(vu16, vm16)
DEFINE_SELECT(wf64, wm64)
DEFINE_SELECT(wi64, wm64)
#ifndef SIMD_OWN_SELECT
DEFINE_SELECT(vf32, vm32)
DEFINE_SELECT(vf64, vm64)
#endif

#define DEFINE_LANES(type, element, lane_count)          \
    INLINE element type##_first(type x) { return x[0]; } \
    INLINE element type##_last(type x) { return x[lane_count - 1]; }
#define DEFINE_IOTA(type, element, lane_count)                     \
    INLINE type type##_iota(void) { /* 0, 1, 2 ... */              \
        type lane;                                                 \
        for (int i = 0; i < lane_count; i++) lane[i] = (element)i; \
        return lane;                                               \
    }

DEFINE_LANES(vi8, int8_t, V8_LANES)
DEFINE_LANES(vu8, uint8_t, V8_LANES)
DEFINE_LANES(vi16, int16_t, V16_LANES)
DEFINE_LANES(vu16, uint16_t, V16_LANES)
DEFINE_LANES(vi32, int32_t, VF32_LANES)
DEFINE_LANES(vu32, uint32_t, VF32_LANES)
DEFINE_LANES(vi64, int64_t, VF64_LANES)
DEFINE_LANES(vu64, uint64_t, VF64_LANES)
DEFINE_IOTA(vi32, int32_t, VF32_LANES)
DEFINE_IOTA(vu32, uint32_t, VF32_LANES)
DEFINE_IOTA(vi64, int64_t, VF64_LANES)
DEFINE_IOTA(vu64, uint64_t, VF64_LANES)
INLINE vi8 vi8_iota(void) { return (vi8)(vi32_iota() * 0x04040404 + 0x03020100); }
INLINE vi16 vi16_iota(void) { return (vi16)(vi32_iota() * 0x00020002 + 0x00010000); }

/* Masks, in which true is greater than false. */
#define DEFINE_MASKS(type, integers)                                     \
    INLINE type type##_set(int x) { return integers##_set(x ? -1 : 0); } \
    INLINE type type##_and(type a, type b) { return a & b; }             \
    INLINE type type##_or(type a, type b) { return a | b; }              \
    INLINE type type##_xor(type a, type b) { return a ^ b; }             \
    INLINE type type##_not(type a) { return ~a; }                        \
    INLINE type type##_eq(type a, type b) { return ~(a ^ b); }           \
    INLINE type type##_ne(type a, type b) { return a ^ b; }              \
    INLINE type type##_lt(type a, type b) { return ~a & b; }             \
    INLINE type type##_le(type a, type b) { return ~a | b; }             \
    INLINE type type##_gt(type a, type b) { return a & ~b; }             \
    INLINE type type##_ge(type a, type b) { return a | ~b; }             \
    INLINE type type##_minimum(type a, type b) { return a & b; }         \
    INLINE type type##_maximum(type a, type b) { return a | b; }         \
    INLINE integers type##_to_##integers(type m) { return m & integers##_set(1); } /* 0 or 1 */

DEFINE_MASKS(vm32, vi32)
DEFINE_MASKS(vm64, vi64)

/* Shifts are functions rather than operators, because in CUDA, vi32 is int32_t, and C++ does not define shifting a
 * negative int32_t left. A right shift of signed integers copies the sign bit. In shift_left_each, each lane shifts by
 * its own count; a count that is negative, or not below the number of bits, shifts every bit out. */
#define DEFINE_BITWISE(type)                                                                    \
    INLINE type type##_and(type a, type b) { return a & b; }                                    \
    INLINE type type##_or(type a, type b) { return a | b; }                                     \
    INLINE type type##_xor(type a, type b) { return a ^ b; }                                    \
    INLINE type type##_not(type a) { return ~a; }                                               \
    INLINE type type##_minimum(type a, type b) { return type##_select(type##_lt(a, b), a, b); } \
    INLINE type type##_maximum(type a, type b) { return type##_select(type##_gt(a, b), a, b); }

#define DEFINE_INTEGERS(type, unsigned_type, bit_count)                                            \
    DEFINE_BITWISE(type)                                                                           \
    INLINE type type##_shift_left(type x, int n) { return x << n; }                                \
    INLINE type type##_shift_right(type x, int n) { return x >> n; }                               \
    INLINE type type##_shift_left_each(type x, type n) {                                           \
        return type##_select(unsigned_type##_lt((unsigned_type)n, unsigned_type##_set(bit_count)), \
                             x << (n & (bit_count - 1)), type##_set(0));                           \
    }                                                                                              \
    INLINE type type##_fma(type x, type y, type z) { return x * y + z; }

DEFINE_BITWISE(vi8)
DEFINE_BITWISE(vu8)
DEFINE_BITWISE(vi16)
DEFINE_BITWISE(vu16)
DEFINE_INTEGERS(vi32, vu32, 32)
DEFINE_INTEGERS(vu32, vu32, 32)
DEFINE_INTEGERS(vi64, vu64, 64)
DEFINE_INTEGERS(vu64, vu64, 64)

#define DEFINE_ABS(type) \
    INLINE type type##_abs(type x) { return type##_select(x < 0, -x, x); } /* the lowest integer stays as it is */

#define DEFINE_SIGNED(type, unsigned_type, bit_count)                                                        \
    INLINE type type##_shift_right_each(type x, type n) {                                                    \
        unsigned_type bits = unsigned_type##_set(bit_count);                                                 \
        return x >> type##_select(unsigned_type##_lt((unsigned_type)n, bits), n, type##_set(bit_count - 1)); \
    }                                                                                                        \
    DEFINE_ABS(type)

DEFINE_ABS(vi8)
DEFINE_ABS(vi16)
DEFINE_SIGNED(vi32, vu32, 32)
DEFINE_SIGNED(vi64, vu64, 64)

#define DEFINE_UNSIGNED(type, bit_count)                                                                      \
    INLINE type type##_shift_right_each(type x, type n) {                                                     \
        return type##_select(type##_lt(n, type##_set(bit_count)), x >> (n & (bit_count - 1)), type##_set(0)); \
    }                                                                                                         \
    INLINE type type##_abs(type x) { return x; }

INLINE vu8 vu8_abs(vu8 x) { return x; }
INLINE vu16 vu16_abs(vu16 x) { return x; }
DEFINE_UNSIGNED(vu32, 32)
DEFINE_UNSIGNED(vu64, 64)

/* The truncated quotient; no divisor is 0, nor -1. No instruction set divides integers in vectors. */
#define DEFINE_QUOTIENT(type, lane_count)               \
    INLINE type type##_quotient(type x, type divisor) { \
        for (int lane = 0; lane < lane_count; lane++) { \
            x[lane] = x[lane] / divisor[lane];          \
        }                                               \
        return x;                                       \
    }

DEFINE_QUOTIENT(vi64, VF64_LANES)
DEFINE_QUOTIENT(vu64, VF64_LANES)

INLINE vu32 vi32_to_vu32(vi32 x) { return (vu32)x; }
INLINE vi32 vu32_to_vi32(vu32 x) { return (vi32)x; }

/* <type>_bits and _from_bits reinterpret lanes. copysign gives the magnitude of x with the sign of s. */
#define DEFINE_BITS(type, integers)                             \
    INLINE integers type##_bits(type x) { return (integers)x; } \
    INLINE type type##_from_bits(integers x) { return (type)x; }
#define DEFINE_FLOATS(type, element, integers, mask, sign_bit, lane_count)                     \
    DEFINE_BITS(type, integers)                                                                \
    INLINE type type##_abs(type x) { return (type)((integers)x & ~integers##_set(sign_bit)); } \
    INLINE mask type##_isnan(type x) { return (mask)(x != x); }                                \
    INLINE type type##_copysign(type x, type s) {                                              \
        integers sign = integers##_set(sign_bit);                                              \
        return (type)(((integers)x & ~sign) | ((integers)s & sign));                           \
    }                                                                                          \
    INLINE element type##_first(type x) { return x[0]; }                                       \
    INLINE element type##_last(type x) { return x[lane_count - 1]; }

DEFINE_BITS(vi8, vi8)
DEFINE_BITS(vu8, vi8)
DEFINE_BITS(vi16, vi16)
DEFINE_BITS(vu16, vi16)
DEFINE_BITS(vi32, vi32)
DEFINE_BITS(vi64, vi64)
DEFINE_BITS(vu32, vi32)
DEFINE_BITS(vu64, vi64)
DEFINE_FLOATS(vf32, float, vi32, vm32, INT32_MIN, VF32_LANES)
DEFINE_FLOATS(vf64, double, vi64, vm64, INT64_MIN, VF64_LANES)

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
