/* The permutations by which AVX2 and AVX-512 partition a vector of up to 8 lanes. */
#pragma once

#include <stdint.h>

/* Element m of simd_chosen has, in its bytes, the numbers of the bits that are set in m, then those of the others. */
#define SIMD_CHOSEN_BIT(m, bit)                                                              \
    ((uint64_t)(bit) << 8 * ((m) >> (bit) & 1 ? __builtin_popcount((m) & ((1 << (bit)) - 1)) \
                                              : __builtin_popcount((m) | ((1 << (bit)) - 1))))
#define SIMD_CHOSEN(m)                                                                              \
    SIMD_CHOSEN_BIT(m, 1) | SIMD_CHOSEN_BIT(m, 2) | SIMD_CHOSEN_BIT(m, 3) | SIMD_CHOSEN_BIT(m, 4) | \
        SIMD_CHOSEN_BIT(m, 5) | SIMD_CHOSEN_BIT(m, 6) | SIMD_CHOSEN_BIT(m, 7)
#define SIMD_CHOSEN_4(m) SIMD_CHOSEN(m), SIMD_CHOSEN((m) + 1), SIMD_CHOSEN((m) + 2), SIMD_CHOSEN((m) + 3)
#define SIMD_CHOSEN_16(m) SIMD_CHOSEN_4(m), SIMD_CHOSEN_4((m) + 4), SIMD_CHOSEN_4((m) + 8), SIMD_CHOSEN_4((m) + 12)
#define SIMD_CHOSEN_64(m) \
    SIMD_CHOSEN_16(m), SIMD_CHOSEN_16((m) + 16), SIMD_CHOSEN_16((m) + 32), SIMD_CHOSEN_16((m) + 48)
static const uint64_t simd_chosen[256] = {SIMD_CHOSEN_64(0), SIMD_CHOSEN_64(64), SIMD_CHOSEN_64(128),
                                          SIMD_CHOSEN_64(192)};
