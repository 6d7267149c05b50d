/* Detects instruction sets with CPUID, not by the processor's model, so that processors newer than this code run the
 * fastest kernels, too. A vector register is usable only if the operating system saves it when it switches threads,
 * which XGETBV reports. This file needs no C library. */
#include "system/cpu.h"
#include "lanewise.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* Bits of XCR0: the register state that the operating system saves. AVX needs the bits of SSE and AVX; AVX-512 also
 * those of the mask registers, of the upper halves of zmm0-15, and of zmm16-31. macOS sets the bits of AVX-512 only
 * after a program has used it, so AVX-512 is not detected there; no Mac on sale has it. */
enum { XCR0_AVX = 0x06, XCR0_AVX512 = 0xe6 };

typedef struct {
    uint32_t a, b, c, d;
} leaf;

#if defined(LW_DESCRIBED_CPU) /* tests/native/programs/processor.c includes this file and simulates a processor */

static leaf cpuid_part(uint32_t number, uint32_t part);
static uint32_t saved_state(void);

#else

static leaf cpuid_part(uint32_t number, uint32_t part) {
    leaf l;
    __cpuid_count(number, part, l.a, l.b, l.c, l.d);
    return l;
}

static uint32_t saved_state(void) {
    uint32_t low, high; /* all bits of the masks above are in `low` */
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0"
                     : "=a"(low), "=d"(high)
                     : "c"(0)); /* xgetbv, as bytes because its mnemonic needs -mxsave */
    return low;
}

#endif

static leaf cpuid(uint32_t number) { return cpuid_part(number, 0); }

static int has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

uint64_t lw_cpu_features(void) {
    uint64_t features = LW_CPU_SSE2; /* part of x86-64 */
    uint32_t highest = cpuid(0).a;
    leaf basic = cpuid(1);
    if (!has(basic.c, bit_OSXSAVE | bit_AVX)) {
        return features;
    }
    uint32_t state = saved_state();
    if (!has(state, XCR0_AVX)) {
        return features;
    }
    features |= LW_CPU_AVX;
    features |= has(basic.c, bit_FMA) ? LW_CPU_FMA : 0;
    features |= has(basic.c, bit_F16C) ? LW_CPU_F16C : 0;
    if (highest < 7) {
        return features;
    }
    leaf extended = cpuid(7);
    features |= has(extended.b, bit_AVX2) && has(basic.c, bit_POPCNT) ? LW_CPU_AVX2 : 0;
    if (has(state, XCR0_AVX512) && has(extended.b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)) {
        features |= LW_CPU_AVX512;
    }
    return features;
}

enum { ANY_LEVEL = 0 };

/* Returns the size of the largest cache for data that a leaf of CPUID describes at `level`, or at ANY_LEVEL. */
static size_t largest_cache(uint32_t number, uint32_t level) {
    enum { NONE = 0, INSTRUCTIONS = 2 };
    size_t largest = 0;
    for (uint32_t part = 0; part < 16; part++) {
        leaf cache = cpuid_part(number, part);
        uint32_t kind = cache.a & 31;
        if (kind == NONE) {
            break;
        }
        size_t ways = (cache.b >> 22) + 1, partitions = (cache.b >> 12 & 1023) + 1, line = (cache.b & 4095) + 1;
        size_t bytes = ways * partitions * line * ((size_t)cache.c + 1);
        int counts = kind != INSTRUCTIONS && (level == ANY_LEVEL || (cache.a >> 5 & 7) == level);
        if (counts && bytes > largest) {
            largest = bytes;
        }
    }
    return largest;
}

/* AMD and Intel use different CPUID leaves with the same format: each subleaf describes one cache. The C library's
 * sysconf() is not used, because on some systems it reports the last-level cache of the whole socket. */
static size_t cache_bytes(uint32_t level) {
    const uint32_t amd = 0x8000001d, intel = 4;
    size_t bytes = cpuid(0x80000000).a >= amd ? largest_cache(amd, level) : 0;
    return bytes || cpuid(0).a < intel ? bytes : largest_cache(intel, level);
}

size_t lw_cpu_l2_bytes(void) { return cache_bytes(2); }

size_t lw_cpu_cache_bytes(void) { return cache_bytes(ANY_LEVEL); }

#elif defined(__aarch64__)

uint64_t lw_cpu_features(void) { return LW_CPU_NEON; } /* part of AArch64 */

#elif defined(__wasm__)

/* Returns all features, because a WebAssembly module cannot query the engine. lanewise/backends/wasm.py probes the
 * engine before it opens a kernel library, and an engine refuses to open a module with unsupported instructions. */
uint64_t lw_cpu_features(void) { return LW_CPU_SIMD128 | LW_CPU_RELAXED_SIMD; }

#else

uint64_t lw_cpu_features(void) { return 0; }

#endif

#if !defined(__x86_64__) /* programs cannot ask other processors; kernels then use sizes that suit all of them */

size_t lw_cpu_l2_bytes(void) { return 0; }

size_t lw_cpu_cache_bytes(void) { return 0; }

#endif
