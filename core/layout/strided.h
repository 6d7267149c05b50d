/* Copies strided elements of 1, 2, 4 or 8 bytes, at any alignment. */
#pragma once

#include "lanewise.h"
#include "simd/simd.h"

#define COPY_STRIDED(bits)                                                                                           \
    INLINE void copy_strided_##bits(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) { \
        for (int64_t i = 0; i < count; i++) {                                                                        \
            uint##bits##_t item;                                                                                     \
            __builtin_memcpy(&item, from + i * from_step, sizeof item);                                              \
            __builtin_memcpy(to + i * to_step, &item, sizeof item);                                                  \
        }                                                                                                            \
    }

COPY_STRIDED(8)
COPY_STRIDED(16)
COPY_STRIDED(32)
COPY_STRIDED(64)

/* Copies elements of 4 or 8 bytes, a constant. */
INLINE void copy_strided_inline(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                                int32_t size) {
    if (size == 4) {
        copy_strided_32(to, to_step, from, from_step, count);
    } else {
        copy_strided_64(to, to_step, from, from_step, count);
    }
}

/* Copies `count` elements. Steps are in bytes; the regions must not overlap. */
void copy_strided(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count, int32_t size);
