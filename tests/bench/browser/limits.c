/* Loops that reach the limits of a WebAssembly engine: arithmetic on registers only, and memory that is only read, or
 * read and written once. Compiled for SIMD128 and relaxed SIMD. Sums go to `sink` so that the compiler cannot remove
 * the work. */
#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name), used))

enum {
    LARGEST = 64 << 20, /* bytes per stream; three streams together exceed any cache */
    CHAINS = 12,        /* multiply-adds in flight: 2 start per cycle, each takes up to 6; they fit in 16 registers */
    APART = 341 << 6,   /* padding, a third of 64 KB: streams a multiple of 64 KB apart would use the same cache sets */
    STREAMS = 8,        /* independent sums in `read` */
};

static v128_t stream[3][(LARGEST + APART) / sizeof(v128_t)];
static volatile float sink;

#ifdef __wasm_relaxed_simd__
#define MADD(x, y, z) wasm_f32x4_relaxed_madd(x, y, z)
#else
#define MADD(x, y, z) wasm_f32x4_add(wasm_f32x4_mul(x, y), z)
#endif

static float total(v128_t x) {
    return wasm_f32x4_extract_lane(x, 0) + wasm_f32x4_extract_lane(x, 1) + wasm_f32x4_extract_lane(x, 2) +
           wasm_f32x4_extract_lane(x, 3);
}

/* Returns the number of floating-point operations per iteration of `madd`. */
EXPORT(madd_flops) int madd_flops(void) { return 2 * 4 * CHAINS; }

/* Repeats x = x*y + z in independent chains. With y = z = 0.5, each x converges to 1. The volatile `half` hides y and z
 * from the compiler, which would otherwise remove the chain that starts at 1, because its value never changes. */
EXPORT(madd) void madd(int iterations) {
    v128_t chain[CHAINS];
    volatile float half = 0.5f;
    const v128_t y = wasm_f32x4_splat(half), z = wasm_f32x4_splat(half);
#pragma clang loop unroll(full)
    for (int i = 0; i < CHAINS; i++) {
        chain[i] = wasm_f32x4_splat(1.0f + (float)i);
    }
    for (int iteration = 0; iteration < iterations; iteration++) {
#pragma clang loop unroll(full)
        for (int i = 0; i < CHAINS; i++) {
            chain[i] = MADD(chain[i], y, z);
        }
    }
    v128_t all = chain[0];
#pragma clang loop unroll(full)
    for (int i = 1; i < CHAINS; i++) {
        all = wasm_f32x4_add(all, chain[i]);
    }
    sink = total(all);
}

/* Sums the first `bytes` bytes of a stream, as floats, `times` times. `bytes` is a multiple of STREAMS vectors. */
EXPORT(read) void read(int bytes, int times) {
    const int count = bytes / (int)sizeof(v128_t);
    v128_t sum[STREAMS];
#pragma clang loop unroll(full)
    for (int i = 0; i < STREAMS; i++) {
        sum[i] = wasm_f32x4_splat(0.0f);
    }
    for (int time = 0; time < times; time++) {
        for (int at = 0; at + STREAMS <= count; at += STREAMS) {
#pragma clang loop unroll(full)
            for (int i = 0; i < STREAMS; i++) {
                sum[i] = wasm_f32x4_add(sum[i], stream[0][at + i]);
            }
        }
    }
    v128_t all = sum[0];
#pragma clang loop unroll(full)
    for (int i = 1; i < STREAMS; i++) {
        all = wasm_f32x4_add(all, sum[i]);
    }
    sink = total(all);
}

/* Computes c = a*y: reads `bytes` bytes of a and writes as many to c. */
EXPORT(scale) void scale(int bytes, int times) {
    const int count = bytes / (int)sizeof(v128_t);
    const v128_t y = wasm_f32x4_splat(0.5f);
    for (int time = 0; time < times; time++) {
#pragma clang loop unroll_count(4)
        for (int at = 0; at < count; at++) {
            stream[2][at] = wasm_f32x4_mul(stream[0][at], y);
        }
    }
}

/* Computes c = a*y + b: reads `bytes` bytes from each of a and b, and writes as many to c. */
EXPORT(triad) void triad(int bytes, int times) {
    const int count = bytes / (int)sizeof(v128_t);
    const v128_t y = wasm_f32x4_splat(0.5f);
    for (int time = 0; time < times; time++) {
#pragma clang loop unroll_count(4)
        for (int at = 0; at < count; at++) {
            stream[2][at] = MADD(stream[0][at], y, stream[1][at]);
        }
    }
}

/* Fills the streams with ones. Memory that was never written would be read from one shared page of zeros, which stays
 * in the cache. */
EXPORT(fill) void fill(void) {
    for (int each = 0; each < 3; each++) {
        for (int at = 0; at < LARGEST / (int)sizeof(v128_t); at++) {
            stream[each][at] = wasm_f32x4_splat(1.0f);
        }
    }
}
