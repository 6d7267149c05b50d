/* Conversions between numeric vector types. Conversions to a narrower integer wrap; those from float to integer
 * truncate, saturate, and turn NaN into 0. 64-bit elements are in the wide types (wf64, wi64), which have as many lanes
 * as vf32. */
#pragma once

#include "simd/lanes.h"

INLINE vf32 vi32_to_vf32(vi32 x) { return __builtin_convertvector(x, vf32); }
INLINE vf32 vu32_to_vf32(vu32 x) { return __builtin_convertvector(x, vf32); }
INLINE wf64 vu32_to_wf64(vu32 x) { return __builtin_convertvector(x, wf64); }
INLINE wi64 vu32_to_wi64(vu32 x) { return __builtin_convertvector(x, wi64); }
INLINE wi64 wu64_to_wi64(wu64 x) { return (wi64)x; }
INLINE wu64 wi64_to_wu64(wi64 x) { return (wu64)x; }
INLINE vf32 wu64_to_vf32(wu64 x) { return __builtin_convertvector(x, vf32); }
/* Returns x + 2^84 + 2^52 + offset, rounded once: the halves of x become low bits of these powers, and offset, their
 * negative sum or near it, keeps the first addition exact. */
INLINE wf64 wu64_to_wf64_plus(wu64 x, double offset) {
    wf64 high = (wf64)(x >> 32 | (wu64)wf64_set(0x1p84)), low = (wf64)((x & 0xffffffff) | (wu64)wf64_set(0x1p52));
    return (high + wf64_set(offset)) + low;
}
INLINE wf64 wu64_to_wf64(wu64 x) { return wu64_to_wf64_plus(x, -0x1.00000001p84); }
INLINE wf64 vi32_to_wf64(vi32 x) { return __builtin_convertvector(x, wf64); }
INLINE wi64 vi32_to_wi64(vi32 x) { return __builtin_convertvector(x, wi64); }
INLINE vi32 wi64_to_vi32(wi64 x) { return __builtin_convertvector(x, vi32); }
INLINE wf64 vf32_to_wf64(vf32 x) { return __builtin_convertvector(x, wf64); }
INLINE vf32 wf64_to_vf32(wf64 x) { return __builtin_convertvector(x, vf32); }

/* A quotient is an integer, or at least 1 / divisor away from all integers: more than 2^-32 times the quotient, and the
 * rounding error of a double is 2^-53 times it. Less 2^31, its floor is an int32, for which there is an instruction. */
INLINE vu32 vu32_quotient(vu32 x, vu32 divisor) {
    wf64 whole = wf64_floor(vu32_to_wf64(x) / vu32_to_wf64(divisor)) - wf64_set(0x1p31);
    return (vu32) __builtin_convertvector(whole, vi32) ^ 0x80000000;
}

#ifndef SIMD_OWN_FROM_INT64
INLINE vf32 wi64_to_vf32(wi64 x) { return __builtin_convertvector(x, vf32); }
#ifdef __wasm__ /* which has no instruction for it */
INLINE wf64 wi64_to_wf64(wi64 x) { return wu64_to_wf64_plus((wu64)(x ^ INT64_MIN), -0x1.00000001p84 - 0x1p63); }
#else
INLINE wf64 wi64_to_wf64(wi64 x) { return __builtin_convertvector(x, wf64); }
#endif
#endif

#ifndef SIMD_OWN_CONVERSIONS
/* In C, converting a float outside the range of int32 is undefined. So convert 0 instead, then select INT32_MAX or
 * INT32_MIN. */
INLINE vi32 vf32_to_vi32(vf32 x) {
    vm32 fits = vf32_lt(vf32_abs(x), vf32_set(0x1p31f));
    vi32 whole = __builtin_convertvector(vf32_select(fits, x, vf32_set(0)), vi32);
    whole = vi32_select(vf32_ge(x, vf32_set(0x1p31f)), vi32_set(INT32_MAX), whole);
    return vi32_select(vf32_le(x, vf32_set(-0x1p31f)), vi32_set(INT32_MIN), whole);
}
/* The largest double below 2^63 is 2^63 - 1024. Larger elements are replaced by this value before the conversion;
 * then the last ten bits of their results are set, which gives INT64_MAX. */
INLINE wi64 wf64_to_wi64(wf64 x) {
    const wf64 low = wf64_set(-0x1p63), high = wf64_set(0x1.fffffffffffffp62);
    wm64 over = wf64_gt(x, high);
    x = wf64_select(wf64_eq(x, x), x, wf64_set(0));
    x = wf64_select(wf64_lt(x, low), low, x);
    x = wf64_select(over, high, x);
    return __builtin_convertvector(x, wi64) | (over & 1023);
}
INLINE vi32 wf64_to_vi32(wf64 x) {
    x = wf64_select(wf64_eq(x, x), x, wf64_set(0));
    x = wf64_select(wf64_lt(x, wf64_set(INT32_MIN)), wf64_set(INT32_MIN), x);
    x = wf64_select(wf64_gt(x, wf64_set(INT32_MAX)), wf64_set(INT32_MAX), x);
    return __builtin_convertvector(x, vi32);
}
/* Elements from 2^63 on are converted less 2^63. */
INLINE wu64 wf64_to_wu64(wf64 x) {
    wm64 is_high = wf64_ge(x, wf64_set(0x1p63)), over = wf64_ge(x, wf64_set(0x1p64));
    x = wf64_select(wf64_gt(x, wf64_set(0)) & ~over, x, wf64_set(0));
    wi64 whole = __builtin_convertvector(x - wf64_select(is_high & ~over, wf64_set(0x1p63), wf64_set(0)), wi64);
    return (wu64)(whole | (is_high & INT64_MIN) | over);
}
INLINE vu32 wf64_to_vu32(wf64 x) {
    x = wf64_select(wf64_gt(x, wf64_set(0)), x, wf64_set(0)); /* also for NaN */
    x = wf64_select(wf64_gt(x, wf64_set(UINT32_MAX)), wf64_set(UINT32_MAX), x);
    return (vu32)wi64_to_vi32(wf64_to_wi64(x));
}
INLINE vu32 vf32_to_vu32(vf32 x) { return wf64_to_vu32(vf32_to_wf64(x)); }
#endif

/* Rounds to odd: truncates, and sets the last bit if the result is inexact. A second rounding to at most 22 bits, such
 * as that to float16, then gives the same as rounding x directly. */
#ifndef SIMD_OWN_ODD
RARE vf32 wf64_to_vf32_odd_tiny(wf64 x) {
    vf32 nearest = __builtin_convertvector(x, vf32);
    wf64 widened = __builtin_convertvector(nearest, wf64);
    wm64 away = wf64_gt((wf64)((wi64)widened & INT64_MAX), (wf64)((wi64)x & INT64_MAX));
    wm64 inexact = wf64_ne(widened, x); /* or NaN, which stays NaN */
    vi32 bits = vf32_bits(nearest) + __builtin_convertvector(away, vi32);
    return vf32_from_bits(bits | (__builtin_convertvector(inexact, vi32) & 1));
}
/* A normal float32 has 29 bits less than a double. If one of these is set, so is the last bit that stays, and the
 * conversion is exact. */
INLINE vf32 wf64_to_vf32_odd(wf64 x) {
    const int64_t cut = (1 << 29) - 1;
    wi64 bits = (wi64)x;
    vf32 odd = __builtin_convertvector((wf64)((bits | ((bits & cut) + cut)) & ~cut), vf32);
    vm32 tiny = vf32_lt(vf32_abs(odd), vf32_set(0x1p-126f)) & vf32_ne(odd, vf32_set(0));
    return vm32_any(tiny) ? wf64_to_vf32_odd_tiny(x) : odd;
}
#endif

INLINE vm32 wm64_to_vm32(wm64 m) { return __builtin_convertvector(m, vm32); }
