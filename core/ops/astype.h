/* Conversions: op_astype_<from>_<to>, between the dtypes that are computed in. 64-bit elements are in the wide types
 * wi64, wu64 and wf64, which have as many lanes as vf32. Loads convert elements that are only stored to vi32 or vf32,
 * and stores convert them back: _narrow and _half are what they store as integers and as floats of 16 bits. Conversions
 * to integers of fewer bits wrap, those from floats truncate and saturate, and each conversion to a float rounds once:
 * to one of 16 bits from float32, after rounding to odd. */
#pragma once

#include "simd/simd.h"

/* x as a double, rounded to odd if it has more than 53 bits: the last bit is set if the ten after it are not 0. */
INLINE wf64 astype_odd_int64(wi64 x) {
    wi64 odd = (x & ~2047) | wi64_select(wi64_ne(x & 2047, wi64_set(0)), wi64_set(2048), wi64_set(0));
    wm64 is_large = wi64_ge(x, wi64_set(1LL << 53)) | wi64_le(x, wi64_set(-(1LL << 53)));
    return wi64_to_wf64(wi64_select(is_large, odd, x));
}
INLINE wf64 astype_odd_uint64(wu64 x) {
    wi64 whole = wu64_to_wi64(x), half = wu64_to_wi64(x >> 1 | (x & 1));
    wf64 doubled = astype_odd_int64(half) * wf64_set(2);
    return wf64_select(wi64_lt(whole, wi64_set(0)), doubled, astype_odd_int64(whole));
}

/* x with the bits that float32 may not have rounded to odd, so that a second rounding to a float of 16 bits gives the
 * same as one of x. */
INLINE vf32 astype_odd_int32(vi32 x) {
    vi32 odd = (x & ~127) | vi32_select(vi32_ne(x & 127, vi32_set(0)), vi32_set(128), vi32_set(0));
    return vi32_to_vf32(vi32_select(vi32_gt(vi32_abs(x) & 0x7f000000, vi32_set(0)), odd, x));
}
INLINE vf32 astype_odd_uint32(vu32 x) {
    vu32 odd = (x & ~255u) | vu32_select(vu32_ne(x & 255, vu32_set(0)), vu32_set(256), vu32_set(0));
    return vu32_to_vf32(vu32_select(vu32_gt(x, vu32_set(0xffffff)), odd, x));
}

INLINE vi32 astype_clamp(vi32 x, int32_t low, int32_t high) {
    return vi32_minimum(vi32_maximum(x, vi32_set(low)), vi32_set(high));
}

/* For each source: x as a mask, as an integer of 32 and of 64 bits, and as a float; and what a second rounding rounds
 * to a float of 16 bits. `integer(x, low, high)` is x as an integer of fewer than 32 bits, in a vi32. */
#define ASTYPE(source, type, mask, int32, uint32, int64, uint64, single, twice, odd, integer)                        \
    INLINE vm32 op_astype_##source##_bool(type x) { return mask; }                                                   \
    INLINE vi32 op_astype_##source##_narrow(type x, int32_t low, int32_t high) { return integer(int32, low, high); } \
    INLINE vi32 op_astype_##source##_int32(type x) { return int32; }                                                 \
    INLINE wi64 op_astype_##source##_int64(type x) { return int64; }                                                 \
    INLINE vu32 op_astype_##source##_uint32(type x) { return uint32; }                                               \
    INLINE wu64 op_astype_##source##_uint64(type x) { return uint64; }                                               \
    INLINE vf32 op_astype_##source##_half(type x) { return odd; }                                                    \
    INLINE vf32 op_astype_##source##_float32(type x) { return single; }                                              \
    INLINE wf64 op_astype_##source##_float64(type x) { return twice; }

#define ASTYPE_WRAPPED(x, low, high) (x)
#define ASTYPE_ODD(x) wf64_to_vf32_odd(x)
#define ASTYPE_TRUTH vm32_to_vi32(x)
#define ASTYPE_LOW wi64_to_vi32(x)
#define ASTYPE_LOW_UNSIGNED wi64_to_vi32(wu64_to_wi64(x))

ASTYPE(bool, vm32, x, ASTYPE_TRUTH, vi32_to_vu32(ASTYPE_TRUTH), vi32_to_wi64(ASTYPE_TRUTH),
       wi64_to_wu64(vi32_to_wi64(ASTYPE_TRUTH)), vi32_to_vf32(ASTYPE_TRUTH), vi32_to_wf64(ASTYPE_TRUTH),
       vi32_to_vf32(ASTYPE_TRUTH), ASTYPE_WRAPPED)
ASTYPE(int32, vi32, vi32_ne(x, vi32_set(0)), x, vi32_to_vu32(x), vi32_to_wi64(x), wi64_to_wu64(vi32_to_wi64(x)),
       vi32_to_vf32(x), vi32_to_wf64(x), astype_odd_int32(x), ASTYPE_WRAPPED)
ASTYPE(uint32, vu32, vu32_ne(x, vu32_set(0)), vu32_to_vi32(x), x, vu32_to_wi64(x), wi64_to_wu64(vu32_to_wi64(x)),
       vu32_to_vf32(x), vu32_to_wf64(x), astype_odd_uint32(x), ASTYPE_WRAPPED)
ASTYPE(int64, wi64, wm64_to_vm32(wi64_ne(x, wi64_set(0))), ASTYPE_LOW, vi32_to_vu32(ASTYPE_LOW), x, wi64_to_wu64(x),
       wi64_to_vf32(x), wi64_to_wf64(x), ASTYPE_ODD(astype_odd_int64(x)), ASTYPE_WRAPPED)
ASTYPE(uint64, wu64, wm64_to_vm32(wi64_ne(wu64_to_wi64(x), wi64_set(0))), ASTYPE_LOW_UNSIGNED,
       vi32_to_vu32(ASTYPE_LOW_UNSIGNED), wu64_to_wi64(x), x, wu64_to_vf32(x), wu64_to_wf64(x),
       ASTYPE_ODD(astype_odd_uint64(x)), ASTYPE_WRAPPED)
ASTYPE(float32, vf32, vf32_ne(x, vf32_set(0)), vf32_to_vi32(x), vf32_to_vu32(x), wf64_to_wi64(vf32_to_wf64(x)),
       wf64_to_wu64(vf32_to_wf64(x)), x, vf32_to_wf64(x), x, astype_clamp)
ASTYPE(float64, wf64, wm64_to_vm32(wf64_ne(x, wf64_set(0))), wf64_to_vi32(x), wf64_to_vu32(x), wf64_to_wi64(x),
       wf64_to_wu64(x), wf64_to_vf32(x), x, ASTYPE_ODD(x), astype_clamp)
