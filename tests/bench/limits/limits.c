/* Loops that reach the limits of a processor or of a WebAssembly engine: arithmetic on registers only, and memory that
 * is only read, or read and written. Compiled for each instruction set, with the vector functions of core/simd/. Sums
 * are returned so that the compiler cannot remove the work. Counts are intptr_t, which JavaScript passes as numbers. */
#include "lanewise.h"
#include "simd/simd.h"

#define EXPORT __attribute__((visibility("default"), used))

enum {
    CHAINS = 12, /* multiply-adds in flight: 2 start per cycle, each takes up to 6; they fit in 16 registers */
    SUMS = 8,    /* additions in flight: 2 start per cycle, one for each load, and each takes 4 cycles */
};

/* Returns the sum of all lanes of `count` registers. `count` is a compile-time constant. */
INLINE float total(const vf32 *x, int count) {
    vf32 all = x[0];
#pragma GCC unroll 32
    for (int i = 1; i < count; i++) {
        all = all + x[i];
    }
    for (int n = VF32_LANES / 2; n; n /= 2) {
        all = all + vf32_slide_down(all, n);
    }
    return vf32_first(all);
}

/* Returns the number of floating-point operations per iteration of `madd`. */
EXPORT intptr_t madd_flops(void) { return 2 * VF32_LANES * CHAINS; }

/* Repeats x = x*y + z in independent chains. With y = z = 0.5, each x converges to 1. The volatile `half` hides y and z
 * from the compiler, which would otherwise remove the chain that starts at 1, because its value never changes. */
EXPORT float madd(intptr_t iterations) {
    vf32 chain[CHAINS];
    volatile float half = 0.5f;
    const vf32 y = vf32_set(half), z = vf32_set(half);
#pragma GCC unroll 32
    for (int i = 0; i < CHAINS; i++) {
        chain[i] = vf32_set(1.0f + (float)i);
    }
    for (intptr_t iteration = 0; iteration < iterations; iteration++) {
#pragma GCC unroll 32
        for (int i = 0; i < CHAINS; i++) {
            chain[i] = vf32_fma(chain[i], y, z);
        }
    }
    return total(chain, CHAINS);
}

/* Sums `count` floats, `times` times. Divides them into `places` streams of equal length, of which each iteration reads
 * the next few vectors. Skips the last floats of the streams if they do not fill an iteration. */
INLINE float read_from(int places, const float *from, intptr_t count, intptr_t times) {
    vf32 sum[SUMS];
    const intptr_t part = count / places, step = SUMS / places * VF32_LANES;
#pragma GCC unroll 32
    for (int i = 0; i < SUMS; i++) {
        sum[i] = vf32_set(0);
    }
    for (intptr_t time = 0; time < times; time++) {
        for (intptr_t at = 0; at + step <= part; at += step) {
#pragma GCC unroll 32
            for (int i = 0; i < SUMS; i++) {
                sum[i] = sum[i] + vf32_load(from + i % places * part + at + i / places * VF32_LANES);
            }
        }
    }
    return total(sum, SUMS);
}

/* `read` reads one stream. `read_apart` reads four, which may be faster: the hardware prefetches several at once. */
EXPORT float read(const float *from, intptr_t count, intptr_t times) { return read_from(1, from, count, times); }
EXPORT float read_apart(const float *from, intptr_t count, intptr_t times) { return read_from(4, from, count, times); }

INLINE void store_past(float *to, vf32 x) { vi32_stream((int32_t *)(void *)to, vf32_bits(x)); }

/* Computes c = a*y (scale) or c = a*y + b (triad) on aligned arrays of `count` floats. The variants whose names end in
 * _past write with streaming stores, which do not read the cache lines that they overwrite. */
#define WRITING(name, store, value, ...)                                                                \
    EXPORT void name(float *c, const float *a, __VA_ARGS__ intptr_t count, intptr_t times) {            \
        const vf32 y = vf32_set(0.5f);                                                                  \
        for (intptr_t time = 0; time < times; time++)                                                   \
            for (intptr_t at = 0; at + 4 * VF32_LANES <= count; at += 4 * VF32_LANES) {                 \
                _Pragma("GCC unroll 4") for (intptr_t i = at; i < at + 4 * VF32_LANES; i += VF32_LANES) \
                    store(c + i, value);                                                                \
            }                                                                                           \
        stream_end();                                                                                   \
    }
WRITING(scale, vf32_store, vf32_load(a + i) * y, )
WRITING(scale_past, store_past, vf32_load(a + i) * y, )
WRITING(triad, vf32_store, vf32_fma(vf32_load(a + i), y, vf32_load(b + i)), const float *b, )
WRITING(triad_past, store_past, vf32_fma(vf32_load(a + i), y, vf32_load(b + i)), const float *b, )

#ifdef __wasm__
/* The memory of the module: 192 MB for three arrays, which exceed any cache together, and the distances between them.
 * Natively, loops.py allocates huge pages instead. */
static char memory[(192 << 20) + (64 << 10)] __attribute__((aligned(64)));
EXPORT char *module_memory(void) { return memory; }
#endif

/* Fills an array with ones. Memory that was never written would be read from one shared page of zeros, which stays in
 * the cache. */
EXPORT void fill(float *to, intptr_t count) {
    for (intptr_t at = 0; at < count; at++) {
        to[at] = 1.0f;
    }
}

#ifndef __wasm__
/* Calls a kernel repeatedly and returns the status of the last call that failed, or LW_OK. */
EXPORT int32_t repeat(lw_kernel *kernel, const void *layout, const void *const *inputs, void *const *outputs,
                      const lw_scalar *parameters, intptr_t times) {
    lw_context context = {0}; /* no threads and no scratch memory */
    lw_status failure = LW_OK;
    for (intptr_t time = 0; time < times; time++) {
        lw_status status = kernel(&context, layout, inputs, outputs, parameters);
        failure = status == LW_OK ? failure : status;
    }
    return (int32_t)failure;
}
#endif
