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

enum {
    RANDOM_COUNTERS = 64,                    /* at most, per call of random_philox */
    RANDOM_GROUP = VF32_LANES > 4 ? 64 : 16, /* counters that are computed together; fewer hide no latency */
    RANDOM_WORDS = 4 * RANDOM_COUNTERS
};
_Static_assert(SPAN_UNIT % RANDOM_WORDS == 0, "a task of rand would waste some of the last batch's words");
_Static_assert(4 * RANDOM_GROUP % LANES == 0, "a vector would end with words that are not computed");

/* Computes the words of `count` counters from `first` on, a multiple of RANDOM_GROUP. Each inner loop is a few
 * statements over separate arrays, so that the compiler vectorizes it. */
static void random_philox(uint64_t seed, uint64_t first, int count, uint32_t *words) {
    for (int group = 0; group < count; group += RANDOM_GROUP, first += RANDOM_GROUP, words += 4 * RANDOM_GROUP) {
        uint32_t a[RANDOM_GROUP], b[RANDOM_GROUP], c[RANDOM_GROUP] = {0}, d[RANDOM_GROUP] = {0};
        for (int i = 0; i < RANDOM_GROUP; i++) {
            uint64_t counter = first + (uint64_t)i;
            a[i] = (uint32_t)counter;
            b[i] = (uint32_t)(counter >> 32);
        }
        uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < RANDOM_GROUP; i++) {
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
        for (int i = 0; i < RANDOM_GROUP; i++) {
            words[4 * i] = a[i];
            words[4 * i + 1] = b[i];
            words[4 * i + 2] = c[i];
            words[4 * i + 3] = d[i];
        }
    }
}

enum { RANDOM_PER_ELEMENT = ELEMENT_SIZE / 4 }; /* words */

/* Converts words to `count` floats in place, and perhaps some behind them. */
typedef void random_convert(element_bits *words, int count);

static void random_span(const span *p, const lw_scalar *parameters, random_convert *convert) {
    _Alignas(8) uint32_t words[RANDOM_WORDS];
    for (int64_t done = 0; done < p->count;) {
        uint64_t position = ((uint64_t)parameters[1].i + (uint64_t)(p->position + done)) * RANDOM_PER_ELEMENT;
        int64_t skip = (int64_t)(position % 4);
        PATH_IF(skip > 0, "random: begins within a counter");
        int64_t count = min_int64((RANDOM_WORDS - skip) / RANDOM_PER_ELEMENT, p->count - done);
        int used = (int)(skip + count * RANDOM_PER_ELEMENT);
        random_philox((uint64_t)parameters[0].i, position / 4, divide_up(used, 4 * RANDOM_GROUP) * RANDOM_GROUP, words);
        convert((element_bits *)(void *)words, used / RANDOM_PER_ELEMENT);
        copy_strided(p->data[0] + done * p->step[0], p->step[0], (const char *)(words + skip), ELEMENT_SIZE, count,
                     ELEMENT_SIZE);
        done += count;
    }
}

#define RANDOM(op)                                                                                                  \
    static void op##_convert(element_bits *words, int count) {                                                      \
        for (int i = 0; i < count; i += LANES) {                                                                    \
            b_store(words + i, v_bits(op_##op##_word(b_load(words + i))));                                          \
        }                                                                                                           \
    }                                                                                                               \
    static void op##_span(const span *p, const lw_scalar *parameters) { random_span(p, parameters, op##_convert); } \
    ELEMENT_KERNEL(op) { return run_spans(context, layout, inputs, 0, outputs, parameters, op##_span); }
