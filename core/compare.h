/* Elementwise operations of two operands whose result is a mask: core/ops/<op>.h defines op_<op>_<dtype> for all dtypes
 * by one of these macros. */
#pragma once

#include "simd/simd.h"

/* A comparison; `compare` is its name in the vocabulary, such as lt. float16 is compared as float32, which holds it
 * exactly. `of_bools` is an expression of the masks x1 and x2, as true is greater than false. */
#define COMPARISON(op, compare, of_bools)                                              \
    INLINE vm32 op_##op##_bool(vm32 x1, vm32 x2) { return of_bools; }                  \
    INLINE vm32 op_##op##_int32(vi32 x1, vi32 x2) { return vi32_##compare(x1, x2); }   \
    INLINE vm64 op_##op##_int64(vi64 x1, vi64 x2) { return vi64_##compare(x1, x2); }   \
    INLINE vm32 op_##op##_float16(vf32 x1, vf32 x2) { return vf32_##compare(x1, x2); } \
    INLINE vm32 op_##op##_float32(vf32 x1, vf32 x2) { return vf32_##compare(x1, x2); } \
    INLINE vm64 op_##op##_float64(vf64 x1, vf64 x2) { return vf64_##compare(x1, x2); }

/* A logical operation on masks, of whether the operands are nonzero. NaN is nonzero. */
#define LOGICAL(op, logic)                                                 \
    INLINE vm32 op_##op##_bool(vm32 x1, vm32 x2) { return logic(x1, x2); } \
    INLINE vm32 op_##op##_int32(vi32 x1, vi32 x2) {                        \
        return logic(vi32_ne(x1, vi32_set(0)), vi32_ne(x2, vi32_set(0)));  \
    }                                                                      \
    INLINE vm32 op_##op##_float32(vf32 x1, vf32 x2) {                      \
        return logic(vf32_ne(x1, vf32_set(0)), vf32_ne(x2, vf32_set(0)));  \
    }
