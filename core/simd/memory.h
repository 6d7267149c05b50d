/* Loads and stores for every storage dtype, at any alignment. A partial load reads the first n elements, 0 <= n <=
 * lanes, and sets the other lanes to pad; a partial store writes the first n. Neither accesses memory beyond these
 * elements. Those of vf32, vi32, vf64 and vi64 are in portable.h, or in the header of a set with masked memory
 * instructions. */
#pragma once

#include "simd/portable.h"

#define DEFINE_MEMORY(type, element)                     \
    INLINE type type##_load(const element *p) {          \
        type x;                                          \
        __builtin_memcpy(&x, (const char *)p, sizeof x); \
        return x;                                        \
    }                                                    \
    INLINE void type##_store(element *p, type x) { __builtin_memcpy((char *)p, &x, sizeof x); }

typedef uint8_t du8 __attribute__((vector_size(VF64_LANES))); /* one byte for each 64-bit lane */

DEFINE_MEMORY(vf32, float)
DEFINE_MEMORY(vi32, int32_t)
DEFINE_MEMORY(vf64, double)
DEFINE_MEMORY(vi64, int64_t)
DEFINE_MEMORY(wf64, double)
DEFINE_MEMORY(wi64, int64_t)
DEFINE_MEMORY(vu8, uint8_t)
DEFINE_MEMORY(vu16, uint16_t)
DEFINE_MEMORY(du8, uint8_t)
DEFINE_PARTIAL_MEMORY(wf64, double)
DEFINE_PARTIAL_MEMORY(wi64, int64_t)
DEFINE_PARTIAL_MEMORY(vu8, uint8_t)
DEFINE_PARTIAL_MEMORY(vu16, uint16_t)
DEFINE_PARTIAL_MEMORY(du8, uint8_t)

/* float16 in memory, float32 in lanes. */
INLINE vf32 vf32_load_float16(const uint16_t *p) { return vf32_from_float16(vu16_load(p)); }
INLINE vf32 vf32_load_partial_float16(const uint16_t *p, int n, vf32 pad) {
    return vf32_from_float16(vu16_load_partial(p, n, vf32_to_float16(pad)));
}
INLINE void vf32_store_float16(uint16_t *p, vf32 x) { vu16_store(p, vf32_to_float16(x)); }
INLINE void vf32_store_partial_float16(uint16_t *p, vf32 x, int n) { vu16_store_partial(p, vf32_to_float16(x), n); }

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

DEFINE_BOOL_MEMORY(vm32, vi32, vu8)
DEFINE_BOOL_MEMORY(vm64, vi64, du8)

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

#if !SIMD_STREAM
INLINE void vi32_stream(int32_t *p, vi32 x) { vi32_store(p, x); }
INLINE void stream_end(void) {}
#endif

/* Loads and stores elements of 1 and 2 bytes as bits in 32-bit lanes, for data movement. */
INLINE vi32 vi32_load_bits8(const uint8_t *p) { return __builtin_convertvector(vu8_load(p), vi32); }
INLINE vi32 vi32_load_partial_bits8(const uint8_t *p, int n, vi32 pad) {
    return __builtin_convertvector(vu8_load_partial(p, n, __builtin_convertvector(pad, vu8)), vi32);
}
INLINE void vi32_store_bits8(uint8_t *p, vi32 x) { vu8_store(p, __builtin_convertvector(x, vu8)); }
INLINE void vi32_store_partial_bits8(uint8_t *p, vi32 x, int n) {
    vu8_store_partial(p, __builtin_convertvector(x, vu8), n);
}
INLINE vi32 vi32_load_bits16(const uint16_t *p) { return __builtin_convertvector(vu16_load(p), vi32); }
INLINE vi32 vi32_load_partial_bits16(const uint16_t *p, int n, vi32 pad) {
    return __builtin_convertvector(vu16_load_partial(p, n, __builtin_convertvector(pad, vu16)), vi32);
}
INLINE void vi32_store_bits16(uint16_t *p, vi32 x) { vu16_store(p, __builtin_convertvector(x, vu16)); }
INLINE void vi32_store_partial_bits16(uint16_t *p, vi32 x, int n) {
    vu16_store_partial(p, __builtin_convertvector(x, vu16), n);
}
