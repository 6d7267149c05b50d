/* Quicksort of keys, unsigned integers, for a translation unit of uint32 or uint64.
 *
 * 1. A few keys: a bitonic sorting network in vectors.
 * 2. A partition moves the keys below a pivot, the median of a sample, to the front of one array, and the others to the
 *    front of another. One of the arrays is the one that the keys come from: neither is filled faster than it is read.
 * 3. If no key is below the pivot, it is the least key. Then the next partition moves the keys equal to it, and these
 *    are sorted.
 * 4. If the pivots were so bad that 2 log2(n) partitions, one in the other, were not enough: radix sort.
 *
 * The row is sorted in the array `keys`; the other is `spare`. The keys below a pivot go to the front of `keys`, where
 * they belong, the others to the front of `spare`, and later from there to the rest of `keys`.
 * Source: Bramas, A Novel Hybrid Quicksort Algorithm Vectorized using AVX-512 on Intel Skylake, 2017; for the network,
 * Knuth, The Art of Computer Programming 3, 5.3.4. */
#pragma once

#include "element.h"

#if SIMD_PARTITION
#include "layout/layout_iterator.h"
#include "sort/quick_sort.h"

enum {
    QUICK_VECTORS = LANES < 8 ? 8 : 16,  /* of the larger network; about as many as there are registers */
    QUICK_SHORT = QUICK_VECTORS * LANES, /* longest range for the network */
    QUICK_SAMPLE = LANES < 8 ? 2 : 1,    /* vectors of keys of which a pivot is the median, */
    QUICK_LONG = 2048                    /* and QUICK_VECTORS in ranges of this length or more */
};

/* Compares lanes of x with lanes i ^ n of y: the lower lane of a pair keeps the smaller key. `half` is the highest bit
 * of n. */
INLINE vbits quick_compare_lanes(vbits x, vbits y, int n, int half) {
    vbits other = b_swap(y, n);
    vmask is_upper = b_ne(b_and(b_iota(), b_set(half)), b_set(0));
    return b_select(is_upper, b_maximum(x, other), b_minimum(x, other));
}

/* Sorts the keys of `count` vectors, a power of two up to 16, of which key number i is in vector i % count, lane
 * i / count. Pairs of sorted runs of `run` keys are merged: the first step compares them with the second backwards, the
 * others compare keys n apart. Most of these are in the same lane. The loops are unrolled, so x is in registers. */
INLINE void quick_sort_columns(vbits *x, const int count) {
#pragma GCC unroll 8
    for (int run = 1; run < count * LANES; run *= 2) {
#pragma GCC unroll 8
        for (int n = run; n > 0; n /= 2) {
            int all = n == run ? 2 * n - 1 : n, lanes = all / count, vectors = all % count;
#pragma GCC unroll 16
            for (int i = 0; i < count; i++) {
                int j = i ^ vectors;
                vbits a = x[i], b = x[j];
                if (lanes && j >= i) {
                    x[i] = quick_compare_lanes(a, b, lanes, n / count);
                    x[j] = j > i ? quick_compare_lanes(b, a, lanes, n / count) : x[i];
                } else if (j > i) {
                    x[i] = b_minimum(a, b);
                    x[j] = b_maximum(a, b);
                }
            }
        }
    }
}

/* Puts keys in order that quick_sort_columns() sorted. */
INLINE void quick_transpose(vbits *x, const int count) {
    vbits moved[QUICK_VECTORS];
#pragma GCC unroll 4
    for (int lanes = 1; lanes < LANES; lanes *= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < count / 2; i++) {
            moved[i] = b_even(x[2 * i], x[2 * i + 1]);
            moved[i + count / 2] = b_odd(x[2 * i], x[2 * i + 1]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < count; i++) {
            x[i] = moved[i];
        }
    }
}

/* Sorts up to `count` vectors of keys. `sorted` may be `keys`. */
INLINE void quick_sort_few(const element *keys, element *sorted, int n, const int count) {
    const vbits flip = b_set(BITS_MIN); /* signed integers are compared in fewer instructions */
    const element_bits *from = (const element_bits *)keys;
    element_bits *to = (element_bits *)sorted;
    vbits x[QUICK_VECTORS];
    for (int i = 0; i < count; i++) {
        vmask is_key = b_lt(b_iota(), b_set(n - i * LANES));
        vbits loaded = i * LANES < n ? b_xor(b_load(from + i * LANES), flip) : flip;
        x[i] = b_select(is_key, loaded, b_set(BITS_MAX));
    }
    quick_sort_columns(x, count);
    quick_transpose(x, count);
    for (int i = 0; i < count && i * LANES < n; i++) {
        b_store(to + i * LANES, b_xor(x[i], flip));
    }
}

static void quick_sort_short(const element *keys, element *sorted, int n) {
    if (n <= QUICK_SHORT / 2) {
        quick_sort_few(keys, sorted, n, QUICK_VECTORS / 2);
    } else {
        quick_sort_few(keys, sorted, n, QUICK_VECTORS);
    }
}

/* Returns the median of `count` vectors of keys that are `step` apart. */
INLINE element quick_median(const element *keys, int64_t step, const int count) {
    element_bits sample[QUICK_SHORT];
    vbits x[QUICK_VECTORS];
    for (int i = 0; i < count * LANES; i++) {
        sample[i] = (element_bits)keys[step / 2 + i * step] ^ BITS_MIN;
    }
    for (int i = 0; i < count; i++) {
        x[i] = b_load(sample + i * LANES);
    }
    quick_sort_columns(x, count);
    b_store(sample, x[0]);
    return (element)(sample[LANES / 2] ^ BITS_MIN);
}

static element quick_pivot(const element *keys, int64_t n) {
    return n < QUICK_LONG ? quick_median(keys, n / (QUICK_SAMPLE * LANES), QUICK_SAMPLE)
                          : quick_median(keys, n / QUICK_SHORT, QUICK_VECTORS);
}

/* A partition of n keys. Of those before `next`, `below` are below the pivot. */
typedef struct quick_partition {
    const element *from;
    element *keys, *spare;
    int64_t n, next, below;
    element pivot;
} quick_partition;

/* Moves up to SORT_BLOCK keys. */
static lw_status quick_partition_task(lw_context *context, int64_t task, const void *argument) {
    quick_partition *p = *(quick_partition *const *)argument;
    const element *x = p->from + p->next, pivot = p->pivot;
    element *low = p->keys + p->below, *high = p->spare + (p->next - p->below);
    p->next = min_int64(p->next + SORT_BLOCK, p->n);
    const element *end = p->from + p->next;
#pragma GCC unroll 4
    for (; end - x >= LANES; x += LANES) {
        vec keys = v_load(x);
        int moved = V(partition)(low, high, keys, v_lt(keys, v_set(pivot)));
        low += moved;
        high += LANES - moved;
    }
    if (x < end) { /* the keys behind the last one follow it, and do not count */
        vec keys = v_load(x);
        vmask is_key = b_lt(b_iota(), b_set((int)(end - x)));
        low += V(partition)(low, high, keys, m_and(v_lt(keys, v_set(pivot)), is_key));
    }
    p->below = low - p->keys;
    return LW_OK;
}

/* Partitions n keys, and sets *below to how many are below the pivot. */
static lw_status quick_divide(lw_context *context, const element *from, element *keys, element *spare, int64_t n,
                              element pivot, int64_t *below) {
    quick_partition p = {.from = from, .keys = keys, .spare = spare, .n = n, .pivot = pivot}, *argument = &p;
    lw_status status = LW_OK;
    while (p.next < n && status == LW_OK) {
        status = n <= SORT_BLOCK ? quick_partition_task(context, 0, &argument)
                                 : run_interruptible(context, quick_partition_task, &argument);
    }
    *below = p.below;
    return status;
}

/* How many partitions, one in the other, may sort n keys. */
static int quick_partitions(int64_t n) { return 2 * (63 - __builtin_clzll((uint64_t)n)); }

typedef lw_status quick_fallback(lw_context *context, element **keys, element **spare, int64_t n);

/* Sorts n keys, which are in `keys` or in `spare`. */
static lw_status quick_sort(lw_context *context, element *keys, element *spare, int64_t n, int in_spare, int partitions,
                            quick_fallback *sort_slowly) {
    for (; n > QUICK_SHORT && partitions > 0; partitions--) {
        const element *from = in_spare ? spare : keys;
        element pivot = quick_pivot(from, n);
        int64_t below;
        lw_status status = quick_divide(context, from, keys, spare, n, pivot, &below);
        if (status == LW_OK && below > 0) {
            status = quick_sort(context, keys, spare + (n - below), below, 0, partitions - 1, sort_slowly);
        } else if (status == LW_OK && pivot < ELEMENT_MAX) {
            PATH("sort: the pivot is the least key");
            status = quick_divide(context, spare, keys, spare, n, pivot + 1, &below);
        } else if (status == LW_OK) {
            PATH("sort: all keys are the largest");
            __builtin_memcpy(keys, spare, (size_t)n * sizeof *keys);
            below = n;
        }
        if (status != LW_OK) {
            return status;
        }
        keys += below;
        n -= below;
        in_spare = 1;
    }
    if (n <= QUICK_SHORT) {
        quick_sort_short(in_spare ? spare : keys, keys, (int)n);
        return LW_OK;
    }
    PATH("sort: quicksort ends in radix sort");
    if (in_spare) {
        __builtin_memcpy(keys, spare, (size_t)n * sizeof *keys);
    }
    element *sorted = keys;
    lw_status status = sort_slowly(context, &sorted, &spare, n);
    if (sorted != keys) {
        __builtin_memcpy(keys, sorted, (size_t)n * sizeof *keys);
    }
    return status;
}
#endif
