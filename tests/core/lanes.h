/* Numbers for vocabulary.c and conversions.c, and how they compare vectors with plain C, lane by lane. */
#pragma once

#include "checks.h"

#include "element.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

typedef struct numbers {
    element x[LANES], y[LANES], z[LANES];
    vec a, b, c;
} numbers;

/* Returns whether a and b have the same bits or are both NaN. */
static int same(element a, element b) { return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

static void expect_lanes(const char *name, const numbers *n, vec got, const element *expected) {
    for (int i = 0; i < LANES; i++) {
        expect(same(got[i], expected[i]), name, (double)n->x[i], (double)n->y[i], (double)n->z[i], (double)got[i],
               (double)expected[i]);
    }
}

#define EACH(i) for (int i = 0; i < LANES; i++)
#define CHECK(got, reference)                       \
    do {                                            \
        element expected[LANES];                    \
        EACH(i) expected[i] = (element)(reference); \
        expect_lanes(#got, &n, got, expected);      \
    } while (0)
#define CHECK_MASK(got, reference)                                                                                \
    do {                                                                                                          \
        vmask lanes = (got);                                                                                      \
        EACH(i)                                                                                                   \
        expect(lanes[i] == ((reference) ? -1 : 0), #got, (double)n.x[i], (double)n.y[i], 0, lanes[i], reference); \
    } while (0)

static int guarded; /* whether an inaccessible page follows the memory of memory_before_guard */

/* Returns the last `bytes` bytes of a static buffer. On Linux, if `guarded`, inaccessible pages follow them. */
static char *memory_before_guard(size_t bytes) {
#ifdef __linux__
    static char *pages;
    if (!pages) {
        pages = mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (guarded) {
            mprotect(pages + 65536, 65536, PROT_NONE);
        }
    }
    return pages + 65536 - bytes;
#else
    static char memory[4096];
    return memory + sizeof memory - bytes;
#endif
}

/* For each n: loads n elements that end where readable memory ends, and stores them unaligned. Checks that the bytes
 * around them keep their values, and that the lanes that were not loaded hold `pad`. */
#define TEST_MEMORY(type, element, load, store, load_partial, store_partial, pad, lanes)                  \
    for (int n = 0; n <= (lanes); n++) {                                                                  \
        element *from = (element *)memory_before_guard((size_t)n * sizeof(element));                      \
        unsigned char space[(lanes + 2) * sizeof(element) + 1], expected[sizeof space];                   \
        memset(space, 0x5a, sizeof space);                                                                \
        memset(expected, 0x5a, sizeof expected);                                                          \
        for (int i = 0; i < n; i++) from[i] = (element)((i * 7 + 1) % 2);                                 \
        memcpy(expected + 1 + sizeof(element), from, (size_t)n * sizeof(element));                        \
        type loaded = n == (lanes) ? load(from) : load_partial(from, n, pad);                             \
        store_partial((element *)(space + 1 + sizeof(element)), loaded, n);                               \
        int kept = memcmp(space, expected, sizeof space) == 0;                                            \
        store((element *)(space + 1 + sizeof(element)), loaded);                                          \
        kept &= memcmp(space, expected, 1 + (size_t)(n + 1) * sizeof(element)) == 0;                      \
        kept &= memcmp(space + sizeof space - sizeof(element), expected + sizeof space - sizeof(element), \
                       sizeof(element)) == 0;                                                             \
        element padding[lanes];                                                                           \
        store(padding, pad);                                                                              \
        kept &= memcmp(space + 1 + (size_t)(n + 1) * sizeof(element), padding,                            \
                       (size_t)(lanes - n) * sizeof(element)) == 0;                                       \
        expect(kept, #store_partial, n, 0, 0, 0, 0);                                                      \
    }
#define TEST_STORAGE(type, element, suffix, pad, lanes)                                                \
    TEST_MEMORY(type, element, type##_load##suffix, type##_store##suffix, type##_load_partial##suffix, \
                type##_store_partial##suffix, pad, lanes)
