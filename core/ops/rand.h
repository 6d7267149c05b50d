/* Uniform in [0, 1): the top 24 bits of Philox4x32-10. parameters: seed, offset.
 *
 * Element i is number offset + i of the stream, in which four come from each 128-bit counter under the key seed: so
 * an element depends on its position only, not on how the work is split or on the instruction set. Source: Salmon,
 * Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011. */
#ifndef LANEWISE_OPS_RAND_H
#define LANEWISE_OPS_RAND_H

#include "creation.h"

enum { RAND_TURNS = 64 }; /* counters at once */

/* One after another what the counters first .. first + RAND_TURNS - 1 give. Loops of one statement over separate
 * arrays, so that the compiler makes vectors of them. */
static void rand_philox(uint64_t seed, uint64_t first, uint32_t out[4][RAND_TURNS]) {
    uint32_t *a = out[0], *b = out[1], *c = out[2], *d = out[3];
    for (int i = 0; i < RAND_TURNS; i++) {
        uint64_t counter = first + (uint64_t)i;
        a[i] = (uint32_t)counter;
        b[i] = (uint32_t)(counter >> 32);
        c[i] = d[i] = 0;
    }
    uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < RAND_TURNS; i++) {
            uint64_t product = (uint64_t)a[i] * 0xD2511F53u, other = (uint64_t)c[i] * 0xCD9E8D57u;
            uint32_t next = (uint32_t)(other >> 32) ^ b[i] ^ low;
            c[i] = (uint32_t)(product >> 32) ^ d[i] ^ high;
            b[i] = (uint32_t)other;
            d[i] = (uint32_t)product;
            a[i] = next;
        }
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
}

static void rand_piece_float32(const piece *p, const lw_scalar *parameters) {
    uint32_t bits[4][RAND_TURNS];
    float made[4 * RAND_TURNS];
    for (int64_t done = 0; done < p->count;) {
        uint64_t position = (uint64_t)parameters[1].i + (uint64_t)(p->position + done);
        int64_t skip = (int64_t)(position % 4);
        rand_philox((uint64_t)parameters[0].i, position / 4, bits);
        for (int i = 0; i < RAND_TURNS; i++)
            for (int word = 0; word < 4; word++) made[4 * i + word] = (float)(bits[word][i] >> 8) * 0x1p-24f;
        int64_t count = min_int64(4 * RAND_TURNS - skip, p->count - done);
        copy_strided(p->data[0] + done * p->step[0], p->step[0], (const char *)(made + skip), sizeof(float), count,
                     sizeof(float));
        done += count;
    }
}

CREATION(rand, float32)

#endif
