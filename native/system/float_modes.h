/* The processor's floating-point modes, which a thread inherits from its creator: rounding, treatment of denormals, and
 * trapping exceptions. Kernels require the defaults: round to nearest, keep denormals, no traps. A program may have
 * changed them, by fesetround() or by loading a library that was linked with -ffast-math. */
#pragma once

#include <stdint.h>

#if defined(__x86_64__)

#include <xmmintrin.h>

typedef uint32_t lw_float_modes; /* MXCSR; its lowest six bits are status flags, not modes */
enum { LW_FLOAT_MODES_MASK = 0xffc0, LW_FLOAT_MODES_DEFAULT = 0x1f80 };
static inline lw_float_modes lw_float_modes_get(void) { return _mm_getcsr(); }
static inline void lw_float_modes_set(lw_float_modes modes) { _mm_setcsr(modes); }

#elif defined(__aarch64__)

typedef uint64_t lw_float_modes; /* FPCR */
enum { LW_FLOAT_MODES_MASK = 0x07f79f07, LW_FLOAT_MODES_DEFAULT = 0 };
static inline lw_float_modes lw_float_modes_get(void) {
    lw_float_modes modes;
    __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
    return modes;
}
static inline void lw_float_modes_set(lw_float_modes modes) { __asm__ volatile("msr fpcr, %0" : : "r"(modes)); }

#else /* WebAssembly has only the defaults */

typedef uint32_t lw_float_modes;
enum { LW_FLOAT_MODES_MASK = 0, LW_FLOAT_MODES_DEFAULT = 0 };
static inline lw_float_modes lw_float_modes_get(void) { return 0; }
static inline void lw_float_modes_set(lw_float_modes modes) { (void)modes; }

#endif

/* Sets the default modes and returns the previous ones. Skips the write if nothing changes: reading takes 1 ns, writing
 * 10 ns. */
static inline lw_float_modes lw_float_modes_set_default(void) {
    lw_float_modes before = lw_float_modes_get();
    if ((before & LW_FLOAT_MODES_MASK) != LW_FLOAT_MODES_DEFAULT) {
        lw_float_modes_set((before & ~(lw_float_modes)LW_FLOAT_MODES_MASK) | LW_FLOAT_MODES_DEFAULT);
    }
    return before;
}

static inline void lw_float_modes_restore(lw_float_modes before) {
    if ((before & LW_FLOAT_MODES_MASK) != LW_FLOAT_MODES_DEFAULT) {
        lw_float_modes_set(before);
    }
}
