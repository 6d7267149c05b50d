/* The elements of a translation unit. Kinds and expressions are written once, for `element`; the library compiles them
 * in one translation unit for each dtype that it computes in, which LW_ELEMENT_<DTYPE> names.
 *
 *   element        one element, in memory and as a number
 *   vec            LANES elements in a register; of bool, a mask
 *   vmask          the result of comparing two vec
 *   vbits          integers as large as the elements; element_bits is one of them
 *   vdouble        LANES doubles
 *   v_<name>       the vocabulary's function for vec (simd/README.md), such as v_load for vf32_load
 *   m_<name>       that for vmask
 *   b_<name>       that for vbits
 *   d_<name>       that for vdouble
 *   op_<name>      an operation's expression (core/ops)
 *
 * In translation units of integers of 8 and 16 bits, which only short operations have, some of these are missing.
 *
 * A header that includes this one has to be included in such a translation unit. What does not depend on elements is in
 * .c files, which are compiled once; sort/quick_<dtype>.c are such translation units themselves. */
#pragma once

#include "simd/simd.h"

#if defined LW_ELEMENT_FLOAT32
#define ELEMENT float32
#define IS_FLOATING 1
typedef float element;
#define VEC vf32
#elif defined LW_ELEMENT_INT32
#define ELEMENT int32
typedef int32_t element;
#define VEC vi32
#elif defined LW_ELEMENT_UINT32
#define ELEMENT uint32
#define IS_UNSIGNED
typedef uint32_t element;
#define VEC vu32
#elif defined LW_ELEMENT_BOOL
#define ELEMENT bool
typedef uint8_t element;
#define VEC vm32
#elif defined LW_ELEMENT_FLOAT64
#define ELEMENT float64
#define IS_FLOATING 1
#define IS_64BIT
typedef double element;
#define VEC vf64
#elif defined LW_ELEMENT_INT64
#define ELEMENT int64
#define IS_64BIT
typedef int64_t element;
#define VEC vi64
#elif defined LW_ELEMENT_UINT64
#define ELEMENT uint64
#define IS_UNSIGNED
#define IS_64BIT
typedef uint64_t element;
#define VEC vu64
#elif defined LW_ELEMENT_INT8
#define ELEMENT int8
#define IS_8BIT
typedef int8_t element;
#define VEC vi8
#elif defined LW_ELEMENT_INT16
#define ELEMENT int16
#define IS_16BIT
typedef int16_t element;
#define VEC vi16
#elif defined LW_ELEMENT_UINT8
#define ELEMENT uint8
#define IS_UNSIGNED
#define IS_8BIT
typedef uint8_t element;
#define VEC vu8
#elif defined LW_ELEMENT_UINT16
#define ELEMENT uint16
#define IS_UNSIGNED
#define IS_16BIT
typedef uint16_t element;
#define VEC vu16
#else
#error "define LW_ELEMENT_<DTYPE>, the dtype to compile for"
#endif

#ifndef IS_FLOATING
#define IS_FLOATING 0
#endif

typedef VEC vec;
#define V(name) JOIN(VEC, name)
#define JOIN(first, second) JOINED(first, second)
#define JOINED(first, second) first##_##second

#ifdef IS_64BIT
/* Chooses a constant by the precision of elements. */
#define BY_PRECISION(single, twice) twice
typedef vm64 vmask;
typedef vi64 vbits;
typedef int64_t element_bits;
typedef vf64 vdouble;
#define D(name) vf64_##name
#define M(name) vm64_##name
#define B(name) vi64_##name
#define m_to_bits vm64_to_vi64
#define BITS_MIN INT64_MIN
#define BITS_MAX INT64_MAX
#define v_from_integers vi64_small_to_vf64
#define ROUND_MAGIC SIMD_ROUND_MAGIC_64
#define EXPONENT_MAGIC SIMD_EXPONENT_MAGIC_64
#define MIN_NORMAL 0x1p-1022
enum { LANES = VF64_LANES, MANTISSA_BITS = 52, EXPONENT_BIAS = 1023 };
#elif defined IS_8BIT
typedef vm8 vmask;
typedef vi8 vbits;
typedef int8_t element_bits;
#define M(name) vm8_##name
#define B(name) vi8_##name
#define BITS_MIN INT8_MIN
#define BITS_MAX INT8_MAX
enum { LANES = V8_LANES };
#elif defined IS_16BIT
typedef vm16 vmask;
typedef vi16 vbits;
typedef int16_t element_bits;
#define M(name) vm16_##name
#define B(name) vi16_##name
#define BITS_MIN INT16_MIN
#define BITS_MAX INT16_MAX
enum { LANES = V16_LANES };
#else
#define BY_PRECISION(single, twice) single
typedef vm32 vmask;
typedef vi32 vbits;
typedef int32_t element_bits;
typedef wf64 vdouble;
#define D(name) wf64_##name
#define M(name) vm32_##name
#define B(name) vi32_##name
#define m_to_bits vm32_to_vi32
#define BITS_MIN INT32_MIN
#define BITS_MAX INT32_MAX
#define v_from_integers vi32_to_vf32
#define ROUND_MAGIC SIMD_ROUND_MAGIC
#define EXPONENT_MAGIC SIMD_EXPONENT_MAGIC
#define MIN_NORMAL 0x1p-126f
enum { LANES = VF32_LANES, MANTISSA_BITS = 23, EXPONENT_BIAS = 127 };
#endif

enum { ELEMENT_SIZE = sizeof(element) };

/* The bounds of integers. */
#ifdef IS_UNSIGNED
#define ELEMENT_MIN 0
#define ELEMENT_MAX ((element) - 1)
#else
#define ELEMENT_MIN BITS_MIN
#define ELEMENT_MAX BITS_MAX
#endif

INLINE element element_load(const char *p) {
    element x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}

INLINE element element_from_bits(element_bits bits) {
    element x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* Begins the definition of the kernel lw_<op>_<dtype>. KERNEL is in layout/layout_iterator.h. */
#define ELEMENT_KERNEL(op) KERNEL_NAMED(JOIN(op, ELEMENT))
#define KERNEL_NAMED(name) KERNEL(name)

#define v_set V(set)
#define v_load V(load)
#define v_store V(store)
#define v_load_partial V(load_partial)
#define v_store_partial V(store_partial)
#define v_eq V(eq)
#define v_ne V(ne)
#define v_lt V(lt)
#define v_le V(le)
#define v_gt V(gt)
#define v_ge V(ge)
#define v_select V(select)
#define v_bits V(bits)
#define v_from_bits V(from_bits)
#define v_abs V(abs)
#define v_minimum V(minimum)
#define v_maximum V(maximum)
#define v_fma V(fma)
#define v_first V(first)
#define v_last V(last)
#define v_slide_down V(slide_down)
#define v_spread V(spread)
#define v_swap V(swap)
#define v_reduce_add V(reduce_add)
/* of integers and bool */
#define v_and V(and)
#define v_or V(or)
#define v_xor V(xor)
#define v_not V(not)
#define v_quotient V(quotient)
#define v_shift_left V(shift_left)
#define v_shift_right V(shift_right)
#define v_shift_left_each V(shift_left_each)
#define v_shift_right_each V(shift_right_each)
/* of floats */
#define v_sqrt V(sqrt)
#define v_isnan V(isnan)
#define v_copysign V(copysign)
#define v_at_least V(at_least)
#define v_at_most V(at_most)
#define v_fma_strict V(fma_strict)
#define v_fma_broadcast V(fma_broadcast)
#define v_add_on_fma_unit V(add_on_fma_unit)
#define v_scale V(scale)
#define v_scale_normal V(scale_normal)
#define v_power_of_two V(power_of_two)
#define v_even V(even)
#define v_odd V(odd)
#define v_zip_low V(zip_low)
#define v_zip_high V(zip_high)
#define v_reduce_maximum V(reduce_maximum)

#if IS_FLOATING
#define v_floor V(floor)
#define v_ceil V(ceil)
#define v_trunc V(trunc)
#define v_round V(round)
#else /* integers are whole */
#define v_floor(x) (x)
#define v_ceil(x) (x)
#define v_trunc(x) (x)
#define v_round(x) (x)
#endif

#define d_set D(set)
#define d_load D(load)
#define d_store D(store)
#define d_lt D(lt)
#define d_gt D(gt)
#define d_ge D(ge)
#define d_select D(select)

#define m_set M(set)
#define m_and M(and)
#define m_or M(or)
#define m_xor M(xor)
#define m_not M(not)
#define m_any M(any)
#define m_all M(all)

#define b_set B(set)
#define b_load B(load)
#define b_store B(store)
#define b_load_partial B(load_partial)
#define b_store_partial B(store_partial)
#define b_eq B(eq)
#define b_ne B(ne)
#define b_lt B(lt)
#define b_le B(le)
#define b_gt B(gt)
#define b_ge B(ge)
#define b_select B(select)
#define b_and B(and)
#define b_or B(or)
#define b_xor B(xor)
#define b_shift_left B(shift_left)
#define b_shift_right B(shift_right)
#define b_minimum B(minimum)
#define b_maximum B(maximum)
#define b_iota B(iota)
#define b_first B(first)
#define b_slide_down B(slide_down)
#define b_gather B(gather)

/* Whether each element is nonzero; NaN is nonzero. */
#ifdef LW_ELEMENT_BOOL
INLINE vmask v_is_nonzero(vec x) { return x; }
#else
INLINE vmask v_is_nonzero(vec x) { return v_ne(x, v_set(0)); }
#endif

#ifdef LW_ELEMENT_FLOAT32
#define v_from_double wf64_to_vf32
#define v_to_double vf32_to_wf64
#define m_from_double wm64_to_vm32 /* the result of comparing two vdouble */
#elif defined LW_ELEMENT_FLOAT64
#define v_from_double(x) (x)
#define v_to_double(x) (x)
#define m_from_double(m) (m)
#endif
