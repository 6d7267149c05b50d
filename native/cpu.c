/* Detects instruction sets by asking the processor (CPUID), not by its model: a model unknown to a list is no reason
 * to run slow code. A vector register is usable only if the operating system saves it when it switches threads,
 * which XGETBV tells. Needs no C library. */
#include "cpu.h"
#include "lanewise.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* Register state that the operating system saves (XCR0): SSE and AVX; with AVX-512 the mask registers, the upper
 * halves of zmm0-15, and zmm16-31. Darwin announces the latter only once a program has used them, so AVX-512 is not
 * found there; no Mac still sold has it. */
enum { XCR0_AVX = 0x06, XCR0_AVX512 = 0xe6 };

typedef struct {
    uint32_t a, b, c, d;
} leaf;

static leaf cpuid(uint32_t number) {
    leaf l;
    __cpuid_count(number, 0, l.a, l.b, l.c, l.d);
    return l;
}

static uint64_t saved_state(void) {
    uint32_t low, high;
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0)); /* xgetbv, without -mxsave */
    return (uint64_t)high << 32 | low;
}

static int has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

uint64_t lw_cpu_features(void) {
    uint64_t features = LW_CPU_SSE2; /* part of x86-64 */
    uint32_t highest = cpuid(0).a;
    leaf basic = cpuid(1);
    if (!has(basic.c, bit_OSXSAVE | bit_AVX)) {
        return features;
    }
    uint64_t state = saved_state();
    if (!has((uint32_t)state, XCR0_AVX)) {
        return features;
    }
    features |= LW_CPU_AVX;
    if (has(basic.c, bit_FMA)) {
        features |= LW_CPU_FMA;
    }
    if (has(basic.c, bit_F16C)) {
        features |= LW_CPU_F16C;
    }
    if (highest < 7) {
        return features;
    }
    leaf extended = cpuid(7);
    if (has(extended.b, bit_AVX2)) {
        features |= LW_CPU_AVX2;
    }
    if (has((uint32_t)state, XCR0_AVX512) &&
        has(extended.b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)) {
        features |= LW_CPU_AVX512;
    }
    return features;
}

#elif defined(__aarch64__)

uint64_t lw_cpu_features(void) { return LW_CPU_NEON; } /* part of AArch64 */

#elif defined(__wasm__)

/* A module cannot ask. One whose instructions the engine lacks does not open at all, and lanewise/wasm.py probes
 * before it tries. */
uint64_t lw_cpu_features(void) { return LW_CPU_SIMD128 | LW_CPU_RELAXED_SIMD; }

#else

uint64_t lw_cpu_features(void) { return 0; }

#endif
