/* WebAssembly SIMD128, with and without relaxed SIMD. Engines compile min, max and the rounding instructions to one or
 * a few machine instructions. pmin and pmax return their first operand if the comparison is false, so they keep a
 * NaN in that operand. Included after VF32_LANES is defined. */
#pragma once

/* SIMD128 has no masked loads, and a second copy of every kernel for the tail would make the download larger, so
 * elementwise.h pads the tail instead. */
#define SIMD_PARTIAL 0

#include <wasm_simd128.h>
#undef bool /* wasm_simd128.h includes stdbool.h, whose macro `bool` would be expanded in the names of kernels */

#include "simd/types.h"

/* Engines materialize a vector constant with three instructions at every use, but load one from memory with a single
 * instruction. So vf32_set puts a literal in memory, and `used` keeps the compiler from folding it back. */
#define SIMD128_SET(type, element, x)                                                     \
    __builtin_choose_expr(__builtin_constant_p(x), ({                                     \
                              static element constant __attribute__((used)) =             \
                                  __builtin_choose_expr(__builtin_constant_p(x), (x), 0); \
                              (type) wasm_v128_load32_splat(&constant);                   \
                          }),                                                             \
                          (type##_set)(x))
#define vf32_set(x) SIMD128_SET(vf32, float, x)
#define vi32_set(x) SIMD128_SET(vi32, int32_t, x)

#include "simd/portable.h"

INLINE vf32 vf32_sqrt(vf32 x) { return (vf32)wasm_f32x4_sqrt((v128_t)x); }
INLINE vf32 vf32_minimum(vf32 a, vf32 b) { return (vf32)wasm_f32x4_min((v128_t)a, (v128_t)b); }
INLINE vf32 vf32_maximum(vf32 a, vf32 b) { return (vf32)wasm_f32x4_max((v128_t)a, (v128_t)b); }
INLINE vf32 vf32_at_least(vf32 x, vf32 low) { return (vf32)wasm_f32x4_pmax((v128_t)x, (v128_t)low); }
INLINE vf32 vf32_at_most(vf32 x, vf32 high) { return (vf32)wasm_f32x4_pmin((v128_t)x, (v128_t)high); }
INLINE vf32 vf32_floor(vf32 x) { return (vf32)wasm_f32x4_floor((v128_t)x); }
INLINE vf32 vf32_ceil(vf32 x) { return (vf32)wasm_f32x4_ceil((v128_t)x); }
INLINE vf32 vf32_trunc(vf32 x) { return (vf32)wasm_f32x4_trunc((v128_t)x); }
INLINE vf32 vf32_round(vf32 x) { return (vf32)wasm_f32x4_nearest((v128_t)x); }
/* bitmask is one instruction on x86, where engines need several for any_true and all_true. */
INLINE int vm32_any(vm32 m) { return wasm_i32x4_bitmask((v128_t)m) != 0; }
INLINE int vm32_all(vm32 m) { return wasm_i32x4_bitmask((v128_t)m) == 15; }
