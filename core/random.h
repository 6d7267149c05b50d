/* Random numbers by the generator Philox4x32-10. Element i is computed from word `offset` + i of a stream whose key
 * is the seed; one of 8 bytes from two words, as if the stream consisted of words of 64 bits. Word j depends only on
 * the key and the 128-bit counter j / 4, which gives four words. So an element depends neither on how the work is
 * divided nor on the instruction set. Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
 * 3", 2011.
 *
 * core/ops/<op>.h defines op_<op>_word, which converts a vector of words to numbers, and invokes RANDOM, which defines
 * the kernel lw_<op>_<dtype>. Parameters: seed, offset. */
#pragma once

#include "element.h"
#include "layout/spans.h"
#include "layout/strided.h"

enum { RANDOM_COUNTERS = 64, RANDOM_WORDS = 4 * RANDOM_COUNTERS }; /* counters and words per call of random_philox */
_Static_assert(SPAN_UNIT % RANDOM_WORDS == 0, "a task of rand would waste some of the last batch's words");

/* Computes the words of counters first .. first + RANDOM_COUNTERS - 1. Each loop is a few statements over separate
 * arrays, so that the compiler vectorizes it. */
static void random_philox(uint64_t seed, uint64_t first, uint32_t out[4][RANDOM_COUNTERS]) {
    uint32_t *a = out[0], *b = out[1], *c = out[2], *d = out[3];
    for (int i = 0; i < RANDOM_COUNTERS; i++) {
        uint64_t counter = first + (uint64_t)i;
        a[i] = (uint32_t)counter;
        b[i] = (uint32_t)(counter >> 32);
        c[i] = d[i] = 0;
    }
    uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < RANDOM_COUNTERS; i++) {
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

enum { RANDOM_PER_ELEMENT = ELEMENT_SIZE / 4 }; /* words */

/* Converts RANDOM_WORDS words to floats in place. */
typedef void random_convert(element_bits *words);

static void random_span(const span *p, const lw_scalar *parameters, random_convert *convert) {
    uint32_t bits[4][RANDOM_COUNTERS];
    _Alignas(8) uint32_t words[RANDOM_WORDS];
    for (int64_t done = 0; done < p->count;) {
        uint64_t position = ((uint64_t)parameters[1].i + (uint64_t)(p->position + done)) * RANDOM_PER_ELEMENT;
        int64_t skip = (int64_t)(position % 4);
        PATH_IF(skip > 0, "random: begins within a counter");
        random_philox((uint64_t)parameters[0].i, position / 4, bits);
        for (int i = 0; i < RANDOM_COUNTERS; i++) {
            for (int word = 0; word < 4; word++) {
                words[4 * i + word] = bits[word][i];
            }
        }
        convert((element_bits *)(void *)words);
        int64_t count = min_int64((RANDOM_WORDS - skip) / RANDOM_PER_ELEMENT, p->count - done);
        copy_strided(p->data[0] + done * p->step[0], p->step[0], (const char *)(words + skip), ELEMENT_SIZE, count,
                     ELEMENT_SIZE);
        done += count;
    }
}

#define RANDOM(op)                                                                                                  \
    static void op##_convert(element_bits *words) {                                                                 \
        for (int i = 0; i < RANDOM_WORDS / RANDOM_PER_ELEMENT; i += LANES) {                                        \
            b_store(words + i, v_bits(op_##op##_word(b_load(words + i))));                                          \
        }                                                                                                           \
    }                                                                                                               \
    static void op##_span(const span *p, const lw_scalar *parameters) { random_span(p, parameters, op##_convert); } \
    ELEMENT_KERNEL(op) { return run_spans(context, layout, inputs, 0, outputs, parameters, op##_span); }
