/* Functions that compilers call on their own, even without a C library: to copy a large struct, or in place of a loop
 * that copies or fills memory. They are here, and hidden, so that a kernel library calls nothing outside itself. */

#include <stddef.h>
#include <stdint.h>

/* `used` keeps link-time optimization from removing these functions. Emscripten does not need it, and would
 * export functions that have it. */
#ifdef __EMSCRIPTEN__
#define FREESTANDING __attribute__((visibility("hidden")))
#else
#define FREESTANDING __attribute__((visibility("hidden"), used))
#endif

/* The empty asm keeps the compiler from replacing a loop with a call of the function that contains it. */
FREESTANDING void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    char *out = to;
    const char *in = from;
    for (; count >= 8; count -= 8, in += 8, out += 8) {
        __builtin_memcpy(out, in, 8);
        __asm__ volatile("");
    }
    for (; count; count--) {
        *out++ = *in++;
        __asm__ volatile("");
    }
    return to;
}

static inline void fill_bytes(char *out, int byte, size_t count) {
    uint64_t eight = (uint8_t)byte * UINT64_C(0x0101010101010101);
    for (; count >= 8; count -= 8, out += 8) {
        __builtin_memcpy(out, &eight, 8);
        __asm__ volatile("");
    }
    for (; count; count--) {
        *out++ = (char)byte;
        __asm__ volatile("");
    }
}

FREESTANDING void *memset(void *to, int byte, size_t count) {
    fill_bytes(to, byte, count);
    return to;
}

#ifdef __APPLE__ /* memset of zeros is compiled to bzero on ARM, and to __bzero on x86 */
FREESTANDING void bzero(void *to, size_t count) { fill_bytes(to, 0, count); }
FREESTANDING void __bzero(void *to, size_t count) { fill_bytes(to, 0, count); }
#endif
