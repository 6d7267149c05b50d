/* WebAssembly SIMD128, with and without relaxed SIMD. Engines compile min, max and the rounding instructions to one or
 * a few machine instructions. pmin and pmax return their first operand if the comparison is false, so they keep a
 * NaN in that operand. Included after VF32_LANES is defined. */
#pragma once

/* SIMD128 has no masked loads, and a second copy of every kernel for the tail would make the download larger, so
 * elementwise.h pads the tail instead. */
#define SIMD_PARTIAL 0

#define SIMD_OWN_MINIMUM
#define SIMD_OWN_BOUNDS
#define SIMD_OWN_ROUNDING
#define SIMD_OWN_ANY
#define SIMD_OWN_COPY
#define SIMD_BULK_COPY 1024
#define SIMD_OWN_CONVERSIONS
#define SIMD_OWN_PARTIAL
#define SIMD_SIGNED_ORDER_64
#include <wasm_simd128.h>
#undef bool /* wasm_simd128.h includes stdbool.h, whose macro `bool` would be expanded in the names of kernels */

#include "simd/types.h"

/* If select is written with & and |, as in lanes.h, LLVM 22 compiles some selections to a maximum or a minimum,
 * such as select(a > b, a, b). That may lose NaN and the sign of zero. */
#define SIMD_OWN_SELECT
INLINE vf32 vf32_select(vm32 m, vf32 yes, vf32 no) {
    return (vf32)wasm_v128_bitselect((v128_t)yes, (v128_t)no, (v128_t)m);
}
INLINE vf64 vf64_select(vm64 m, vf64 yes, vf64 no) {
    return (vf64)wasm_v128_bitselect((v128_t)yes, (v128_t)no, (v128_t)m);
}

/* Engines materialize a vector constant with three instructions at every use, but load one from memory with a single
 * instruction. So vf32_set puts a literal in memory, and `used` keeps the compiler from folding it back. */
#define SIMD128_SET(type, element, bits, x)                                               \
    __builtin_choose_expr(__builtin_constant_p(x), ({                                     \
                              static element constant __attribute__((used)) =             \
                                  __builtin_choose_expr(__builtin_constant_p(x), (x), 0); \
                              (type) wasm_v128_load##bits##_splat(&constant);             \
                          }),                                                             \
                          (type##_set)(x))
#define vf32_set(x) SIMD128_SET(vf32, float, 32, x)
#define vi32_set(x) SIMD128_SET(vi32, int32_t, 32, x)
#define vf64_set(x) SIMD128_SET(vf64, double, 64, x)
#define vi64_set(x) SIMD128_SET(vi64, int64_t, 64, x)

/* The first `bytes` of a register, a multiple of 4. */
INLINE v128_t simd128_load_partial(const char *p, int bytes, v128_t x) {
    if (bytes >= 16) {
        return wasm_v128_load(p);
    }
    if (bytes & 8) {
        x = wasm_v128_load64_lane(p, x, 0);
        return bytes & 4 ? wasm_v128_load32_lane(p + 8, x, 2) : x;
    }
    return bytes & 4 ? wasm_v128_load32_lane(p, x, 0) : x;
}
INLINE void simd128_store_partial(char *p, v128_t x, int bytes) {
    if (bytes >= 16) {
        wasm_v128_store(p, x);
    } else if (bytes & 8) {
        wasm_v128_store64_lane(p, x, 0);
        if (bytes & 4) {
            wasm_v128_store32_lane(p + 8, x, 2);
        }
    } else if (bytes & 4) {
        wasm_v128_store32_lane(p, x, 0);
    }
}
#define DEFINE_SIMD128_PARTIAL(T, element)                                                      \
    INLINE T T##_load_partial(const element *p, int n, T pad) {                                 \
        return (T)simd128_load_partial((const char *)p, n * (int)sizeof(element), (v128_t)pad); \
    }                                                                                           \
    INLINE void T##_store_partial(element *p, T x, int n) {                                     \
        simd128_store_partial((char *)p, (v128_t)x, n * (int)sizeof(element));                  \
    }
DEFINE_SIMD128_PARTIAL(vf32, float)
DEFINE_SIMD128_PARTIAL(vi32, int32_t)
DEFINE_SIMD128_PARTIAL(vf64, double)
DEFINE_SIMD128_PARTIAL(vi64, int64_t)

#include "simd/portable.h"

#define DEFINE_SIMD128(T, shape)                                                                  \
    INLINE T T##_sqrt(T x) { return (T)wasm_##shape##_sqrt((v128_t)x); }                          \
    INLINE T T##_minimum(T a, T b) { return (T)wasm_##shape##_min((v128_t)a, (v128_t)b); }        \
    INLINE T T##_maximum(T a, T b) { return (T)wasm_##shape##_max((v128_t)a, (v128_t)b); }        \
    INLINE T T##_at_least(T x, T low) { return (T)wasm_##shape##_pmax((v128_t)x, (v128_t)low); }  \
    INLINE T T##_at_most(T x, T high) { return (T)wasm_##shape##_pmin((v128_t)x, (v128_t)high); } \
    INLINE T T##_floor(T x) { return (T)wasm_##shape##_floor((v128_t)x); }                        \
    INLINE T T##_ceil(T x) { return (T)wasm_##shape##_ceil((v128_t)x); }                          \
    INLINE T T##_trunc(T x) { return (T)wasm_##shape##_trunc((v128_t)x); }                        \
    INLINE T T##_round(T x) { return (T)wasm_##shape##_nearest((v128_t)x); }

DEFINE_SIMD128(vf32, f32x4)
DEFINE_SIMD128(vf64, f64x2)

/* These instructions truncate and saturate, and turn NaN into 0. */
INLINE vi32 vf32_to_vi32(vf32 x) { return (vi32)wasm_i32x4_trunc_sat_f32x4((v128_t)x); }
INLINE vu32 vf32_to_vu32(vf32 x) { return (vu32)wasm_u32x4_trunc_sat_f32x4((v128_t)x); }
#define DEFINE_TRUNCATION(result, narrow, wide, sign)                                               \
    INLINE result wf64_to_##result(wf64 x) {                                                        \
        vf64 low = __builtin_shufflevector(x, x, 0, 1), high = __builtin_shufflevector(x, x, 2, 3); \
        v128_t first = wasm_##narrow##_trunc_sat_f64x2_zero((v128_t)low);                           \
        v128_t second = wasm_##narrow##_trunc_sat_f64x2_zero((v128_t)high);                         \
        return (result)wasm_i64x2_shuffle(first, second, 0, 2);                                     \
    }                                                                                               \
    INLINE wide wf64_to_##wide(wf64 x) {                                                            \
        return (wide){__builtin_wasm_trunc_saturate_##sign##_i64_f64(x[0]),                         \
                      __builtin_wasm_trunc_saturate_##sign##_i64_f64(x[1]),                         \
                      __builtin_wasm_trunc_saturate_##sign##_i64_f64(x[2]),                         \
                      __builtin_wasm_trunc_saturate_##sign##_i64_f64(x[3])};                        \
    }
DEFINE_TRUNCATION(vi32, i32x4, wi64, s)
DEFINE_TRUNCATION(vu32, u32x4, wu64, u)

/* Modules are compiled for size, without vectorized loops. memory.copy calls the engine, which takes 7 ns. From 256
 * bytes on, it is as fast as vectors; at 4 KB, twice as fast (V8, Zen, December 2026). */
INLINE void copy_bytes(char *to, const char *from, int64_t count) {
    if (count >= 256) {
        __builtin_memcpy(to, from, (size_t)count);
    } else if (count >= 16) {
        v128_t end = wasm_v128_load(from + count - 16); /* overlaps the vector before it */
        for (int64_t i = 0; i < count - 16; i += 16) {
            wasm_v128_store(to + i, wasm_v128_load(from + i));
        }
        wasm_v128_store(to + count - 16, end);
    } else {
        int64_t i = 0;
        for (; i <= count - 4; i += 4) {
            wasm_v128_store32_lane(to + i, wasm_v128_load32_zero(from + i), 0);
        }
        for (; i < count; i++) {
            to[i] = from[i];
        }
    }
}
/* bitmask is one instruction on x86, where engines need several for any_true and all_true. */
INLINE int vm32_any(vm32 m) { return wasm_i32x4_bitmask((v128_t)m) != 0; }
INLINE int vm64_any(vm64 m) { return wasm_i64x2_bitmask((v128_t)m) != 0; }
INLINE int vm32_all(vm32 m) { return wasm_i32x4_bitmask((v128_t)m) == 15; }
INLINE int vm64_all(vm64 m) { return wasm_i64x2_bitmask((v128_t)m) == 3; }
