/* Loads and stores for every storage dtype, at any alignment. A partial load reads the first n elements, 0 <= n <=
 * lanes, and sets the other lanes to pad; a partial store writes the first n. Neither accesses memory beyond these
 * elements. Those of vf32, vf64 and integers in their own lanes are in portable.h, or in the header of a set with
 * masked memory instructions. */
#pragma once

#include "simd/portable.h"

#define DEFINE_MEMORY(type, element)                     \
    INLINE type type##_load(const element *p) {          \
        type x;                                          \
        __builtin_memcpy(&x, (const char *)p, sizeof x); \
        return x;                                        \
    }                                                    \
    INLINE void type##_store(element *p, type x) { __builtin_memcpy((char *)p, &x, sizeof x); }

/* Unsigned integers, as the bits of signed ones. */
#define DEFINE_UNSIGNED_MEMORY(type, signed_type, element, signed_element)                                     \
    INLINE type type##_load(const element *p) { return (type)signed_type##_load((const signed_element *)p); }  \
    INLINE void type##_store(element *p, type x) { signed_type##_store((signed_element *)p, (signed_type)x); } \
    INLINE type type##_load_partial(const element *p, int n, type pad) {                                       \
        return (type)signed_type##_load_partial((const signed_element *)p, n, (signed_type)pad);               \
    }                                                                                                          \
    INLINE void type##_store_partial(element *p, type x, int n) {                                              \
        signed_type##_store_partial((signed_element *)p, (signed_type)x, n);                                   \
    }

typedef uint8_t du8 __attribute__((vector_size(VF64_LANES))); /* one byte for each 64-bit lane, */
typedef uint8_t hu8 __attribute__((vector_size(V16_LANES)));  /* and for each 16-bit lane */

DEFINE_MEMORY(vf32, float)
DEFINE_MEMORY(vi32, int32_t)
DEFINE_MEMORY(vf64, double)
DEFINE_MEMORY(vi64, int64_t)
DEFINE_UNSIGNED_MEMORY(vu32, vi32, uint32_t, int32_t)
DEFINE_UNSIGNED_MEMORY(vu64, vi64, uint64_t, int64_t)
DEFINE_MEMORY(wf64, double)
DEFINE_MEMORY(wi64, int64_t)
DEFINE_MEMORY(wu64, uint64_t)
DEFINE_MEMORY(vi8, int8_t)
DEFINE_MEMORY(vi16, int16_t)
DEFINE_UNSIGNED_MEMORY(vu8, vi8, uint8_t, int8_t)
DEFINE_UNSIGNED_MEMORY(vu16, vi16, uint16_t, int16_t)
DEFINE_MEMORY(ni8, int8_t)
DEFINE_MEMORY(ni16, int16_t)
DEFINE_MEMORY(nu8, uint8_t)
DEFINE_MEMORY(nu16, uint16_t)
DEFINE_MEMORY(du8, uint8_t)
DEFINE_MEMORY(hu8, uint8_t)
DEFINE_PARTIAL_MEMORY(wf64, double)
DEFINE_PARTIAL_MEMORY(wi64, int64_t)
DEFINE_PARTIAL_MEMORY(wu64, uint64_t)
DEFINE_PARTIAL_MEMORY(ni8, int8_t)
DEFINE_PARTIAL_MEMORY(ni16, int16_t)
DEFINE_PARTIAL_MEMORY(nu8, uint8_t)
DEFINE_PARTIAL_MEMORY(nu16, uint16_t)
DEFINE_PARTIAL_MEMORY(du8, uint8_t)
DEFINE_PARTIAL_MEMORY(hu8, uint8_t)

/* bfloat16, the upper half of a float. Adding 0x7fff, and 1 more if the last bit that stays is set, rounds to nearest
 * even. That would carry out of some NaN, which becomes a quiet one instead. */
INLINE vu32 vf32_round_bfloat16(vf32 x) {
    vi32 bits = vf32_bits(x);
    return (vu32)(bits + 0x7fff + (bits >> 16 & 1));
}
INLINE vf32 vf32_from_bfloat16(nu16 x) { return vf32_from_bits(__builtin_convertvector(x, vi32) << 16); }
INLINE nu16 vf32_to_bfloat16(vf32 x) {
    vu32 quiet = (vu32)(vf32_bits(x) | 0x400000), rounded = vf32_round_bfloat16(x);
    return __builtin_convertvector(vu32_select(vf32_isnan(x), quiet, rounded) >> 16, nu16);
}

/* A register of bfloat16 as two of float32: the elements at even positions and those at odd ones. A shift and a mask
 * take them apart, where widening elements in their order takes two shuffles. vf32_join_bfloat16 is for results of
 * operations on such elements alone: their NaN have zeros in the lower half, out of which nothing carries. */
INLINE vf32 vf32_even_bfloat16(vu16 x) { return vf32_from_bits((vi32)x << 16); }
INLINE vf32 vf32_odd_bfloat16(vu16 x) { return vf32_from_bits((vi32)((vu32)x & 0xffff0000)); }
INLINE vu16 vf32_join_bfloat16(vf32 even, vf32 odd) {
    return (vu16)(vf32_round_bfloat16(even) >> 16 | (vf32_round_bfloat16(odd) & 0xffff0000));
}
INLINE vm16 vm32_join_bfloat16(vm32 even, vm32 odd) { return (vm16)(((vu32)even & 0xffff) | ((vu32)odd & 0xffff0000)); }

/* Floats of 16 bits in memory, float32 in lanes. `fraction` is a constant: 10 for float16, 7 for bfloat16. */
INLINE vf32 vf32_from_half(nu16 x, int fraction) {
    return fraction == 10  ? vf32_from_float16(x)
           : fraction == 7 ? vf32_from_bfloat16(x)
                           : portable_from_half(__builtin_convertvector(x, vi32), fraction);
}
INLINE nu16 vf32_to_half(vf32 x, int fraction) {
    return fraction == 10  ? vf32_to_float16(x)
           : fraction == 7 ? vf32_to_bfloat16(x)
                           : __builtin_convertvector(portable_to_half(x, fraction), nu16);
}
INLINE vf32 vf32_load_half(const uint16_t *p, int fraction) { return vf32_from_half(nu16_load(p), fraction); }
INLINE vf32 vf32_load_partial_half(const uint16_t *p, int n, vf32 pad, int fraction) {
    return vf32_from_half(nu16_load_partial(p, n, vf32_to_half(pad, fraction)), fraction);
}
INLINE void vf32_store_half(uint16_t *p, vf32 x, int fraction) { nu16_store(p, vf32_to_half(x, fraction)); }
INLINE void vf32_store_partial_half(uint16_t *p, vf32 x, int n, int fraction) {
    nu16_store_partial(p, vf32_to_half(x, fraction), n);
}

/* bool: bytes of 0 or 1 in memory, masks in lanes. Every nonzero byte is true. */
#define DEFINE_BOOL_MEMORY(type, integers, bytes)                                                       \
    INLINE type type##_from_bool(bytes x) { return (type)(__builtin_convertvector(x, integers) != 0); } \
    INLINE bytes type##_to_bool(type m) { return __builtin_convertvector(m & 1, bytes); }               \
    INLINE type type##_load(const uint8_t *p) { return type##_from_bool(bytes##_load(p)); }             \
    INLINE type type##_load_partial(const uint8_t *p, int n, type pad) {                                \
        return type##_from_bool(bytes##_load_partial(p, n, type##_to_bool(pad)));                       \
    }                                                                                                   \
    INLINE void type##_store(uint8_t *p, type m) { bytes##_store(p, type##_to_bool(m)); }               \
    INLINE void type##_store_partial(uint8_t *p, type m, int n) { bytes##_store_partial(p, type##_to_bool(m), n); }

DEFINE_BOOL_MEMORY(vm32, vi32, nu8)
DEFINE_BOOL_MEMORY(vm64, vi64, du8)
DEFINE_BOOL_MEMORY(vm8, vi8, vu8)
DEFINE_BOOL_MEMORY(vm16, vi16, hu8)

/* Loads for each lane the element that is index * step bytes after p. Gather instructions are no faster than a loop. */
#define DEFINE_GATHER(type, element, lane_count)                         \
    INLINE type type##_gather(const char *p, int64_t step, type index) { \
        type x;                                                          \
        for (int i = 0; i < lane_count; i++) {                           \
            element one;                                                 \
            __builtin_memcpy(&one, p + index[i] * step, sizeof one);     \
            x[i] = one;                                                  \
        }                                                                \
        return x;                                                        \
    }

DEFINE_GATHER(vi32, int32_t, VF32_LANES)
DEFINE_GATHER(vi64, int64_t, VF64_LANES)

#ifndef SIMD_OWN_COPY
INLINE void copy_bytes(char *to, const char *from, int64_t count) {
    for (int64_t i = 0; i < count; i++) { /* which compilers vectorize */
        to[i] = from[i];
    }
}
#endif

#if !SIMD_STREAM
INLINE void vi32_stream(int32_t *p, vi32 x) { vi32_store(p, x); }
INLINE void stream_end(void) {}
#endif

/* Integers of 1 and 2 bytes in memory, of 4 in lanes. Stores wrap. */
#define DEFINE_NARROW(name, element, bytes)                                                                    \
    INLINE vi32 vi32_load_##name(const element *p) { return __builtin_convertvector(bytes##_load(p), vi32); }  \
    INLINE vi32 vi32_load_partial_##name(const element *p, int n, vi32 pad) {                                  \
        return __builtin_convertvector(bytes##_load_partial(p, n, __builtin_convertvector(pad, bytes)), vi32); \
    }                                                                                                          \
    INLINE void vi32_store_##name(element *p, vi32 x) { bytes##_store(p, __builtin_convertvector(x, bytes)); } \
    INLINE void vi32_store_partial_##name(element *p, vi32 x, int n) {                                         \
        bytes##_store_partial(p, __builtin_convertvector(x, bytes), n);                                        \
    }

DEFINE_NARROW(int8, int8_t, ni8)
DEFINE_NARROW(int16, int16_t, ni16)
DEFINE_NARROW(uint8, uint8_t, nu8)
DEFINE_NARROW(uint16, uint16_t, nu16)
