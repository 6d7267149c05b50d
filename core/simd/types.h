/* Vector types: GNU vectors of VF32_LANES 32-bit lanes. The header of an instruction set defines VF32_LANES before it
 * includes this file. A single lane is still a vector, so that the scalar library compiles from the same source. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline))
#pragma GCC diagnostic ignored "-Wpsabi" /* warns about the ABI of vector arguments, irrelevant to static functions */

/* The number of 64-bit lanes in a register. */
#if VF32_LANES == 16
#define VF64_LANES 8
#elif VF32_LANES == 8
#define VF64_LANES 4
#elif VF32_LANES == 4
#define VF64_LANES 2
#else
#define VF64_LANES 1
#endif

typedef float vf32 __attribute__((vector_size(4 * VF32_LANES)));
typedef int32_t vi32 __attribute__((vector_size(4 * VF32_LANES)));
typedef uint32_t vu32 __attribute__((vector_size(4 * VF32_LANES)));
typedef vi32 vm32; /* a mask: each lane 0 or -1 */

typedef double vf64 __attribute__((vector_size(8 * VF64_LANES)));
typedef int64_t vi64 __attribute__((vector_size(8 * VF64_LANES)));
typedef uint64_t vu64 __attribute__((vector_size(8 * VF64_LANES)));
typedef vi64 vm64;

/* Wide: one 64-bit lane for each lane of a vf32, for conversions to and from 32 bits. */
typedef double wf64 __attribute__((vector_size(8 * VF32_LANES)));
typedef int64_t wi64 __attribute__((vector_size(8 * VF32_LANES)));
typedef uint64_t wu64 __attribute__((vector_size(8 * VF32_LANES)));
typedef wi64 wm64;

/* Registers of 8-bit and 16-bit lanes, which only integers of short operations are computed in. */
enum { V8_LANES = 4 * VF32_LANES, V16_LANES = 2 * VF32_LANES };
typedef int8_t vi8 __attribute__((vector_size(4 * VF32_LANES)));
typedef uint8_t vu8 __attribute__((vector_size(4 * VF32_LANES)));
typedef vi8 vm8;
typedef int16_t vi16 __attribute__((vector_size(4 * VF32_LANES)));
typedef uint16_t vu16 __attribute__((vector_size(4 * VF32_LANES)));
typedef vi16 vm16;

/* Narrow: elements of 1 and 2 bytes, one for each 32-bit lane. */
typedef int8_t ni8 __attribute__((vector_size(VF32_LANES)));
typedef int16_t ni16 __attribute__((vector_size(2 * VF32_LANES)));
typedef uint8_t nu8 __attribute__((vector_size(VF32_LANES)));
typedef uint16_t nu16 __attribute__((vector_size(2 * VF32_LANES)));
