/* Quicksort of keys, for the dtype of a translation unit: int32, int64, float32 or float64.
 *
 * 1. A few keys: a bitonic sorting network in vectors.
 * 2. A partition, in place, moves the keys below a pivot, the median of a sample, to the front.
 * 3. If no key is below the pivot, it is the least key. Then the keys equal to it are moved to the front.
 * 4. If the pivots were so bad that 2 log2(n) nested partitions were not enough, the sort gives up.
 *
 * Source: Bramas, A Novel Hybrid Quicksort Algorithm Vectorized using AVX-512 on Intel Skylake, 2017; for the network,
 * Knuth, The Art of Computer Programming 3, 5.3.4. */
#pragma once

#include "element.h"

#if SIMD_PARTITION
#include "layout/layout_iterator.h"
#include "reduce/index_reduction.h"
#include "sort/quick_sort.h"

enum {
    QUICK_VECTORS = 16,                  /* of the larger network */
    QUICK_SHORT = QUICK_VECTORS * LANES, /* longest range for the network */
    QUICK_STEPS = 8,                     /* vectors that a partition reads at a time */
    QUICK_GROUP = QUICK_STEPS * LANES,   /* the keys in them */
    QUICK_SAMPLE = LANES < 8 ? 2 : 1,    /* vectors in the sample of a pivot */
    QUICK_LONG = 2048                    /* in ranges of this length or more, QUICK_VECTORS are in the sample */
};

#if IS_FLOATING
#define QUICK_LARGEST __builtin_inf()
#define quick_minimum v_at_most
#define quick_maximum v_at_least
/* The next larger number; after -0, which equals 0, the least positive one. */
INLINE element quick_next(element x) {
    return v_first(v_from_bits(choice_ordered(choice_key_of(v_set(x)) + b_set(1))));
}
#else
#define QUICK_LARGEST BITS_MAX
#define quick_minimum v_minimum
#define quick_maximum v_maximum
INLINE element quick_next(element x) { return x + 1; }
#endif

/* Compares lanes of x with lanes i ^ n of y: the lower lane of a pair keeps the smaller key. `half` is the highest bit
 * of n. */
INLINE vec quick_compare_lanes(vec x, vec y, int n, int half) {
    vec other = v_swap(y, n);
    vmask is_upper = b_ne(b_and(b_iota(), b_set(half)), b_set(0));
    return v_select(is_upper, quick_maximum(x, other), quick_minimum(x, other));
}

/* Sorts the keys of `count` vectors, a power of two up to 16, of which key number i is in vector i % count, lane
 * i / count. Pairs of sorted runs of `run` keys are merged: the first step compares them with the second backwards, the
 * others compare keys n apart. Most of these are in the same lane. The loops are unrolled, so x is in registers. */
INLINE void quick_sort_columns(vec *x, const int count) {
#pragma GCC unroll 8
    for (int run = 1; run < count * LANES; run *= 2) {
#pragma GCC unroll 8
        for (int n = run; n > 0; n /= 2) {
            int all = n == run ? 2 * n - 1 : n, lanes = all / count, vectors = all % count;
#pragma GCC unroll 16
            for (int i = 0; i < count; i++) {
                int j = i ^ vectors;
                vec a = x[i], b = x[j];
                if (lanes && j >= i) {
                    x[i] = quick_compare_lanes(a, b, lanes, n / count);
                    x[j] = j > i ? quick_compare_lanes(b, a, lanes, n / count) : x[i];
                } else if (j > i) {
                    x[i] = quick_minimum(a, b);
                    x[j] = quick_maximum(a, b);
                }
            }
        }
    }
}

/* Puts keys in order that quick_sort_columns() sorted. */
INLINE void quick_transpose(vec *x, const int count) {
    vec moved[QUICK_VECTORS];
#pragma GCC unroll 4
    for (int lanes = 1; lanes < LANES; lanes *= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < count / 2; i++) {
            moved[i] = v_even(x[2 * i], x[2 * i + 1]);
            moved[i + count / 2] = v_odd(x[2 * i], x[2 * i + 1]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < count; i++) {
            x[i] = moved[i];
        }
    }
}

/* Sorts up to `count` vectors of keys. Writes the vector behind them, and restores it. */
INLINE void quick_sort_few(element *keys, int n, const int count) {
    vec x[QUICK_VECTORS], next = v_load(keys + n);
#pragma GCC unroll 16
    for (int i = 0; i < count; i++) {
        int left = n - i * LANES;
        x[i] = v_load_partial(keys + i * LANES, left < 0 ? 0 : left < LANES ? left : LANES, v_set(QUICK_LARGEST));
    }
    quick_sort_columns(x, count);
    quick_transpose(x, count);
#pragma GCC unroll 16
    for (int i = 0; i < count && i * LANES < n; i++) {
        v_store(keys + i * LANES, x[i]);
    }
    v_store(keys + n, next);
}

/* Returns the median of `count` vectors of keys that are `step` apart. */
INLINE element quick_median(const element *keys, int64_t step, const int count) {
    element sample[QUICK_SHORT];
    vec x[QUICK_VECTORS];
    for (int i = 0; i < count * LANES; i++) {
        sample[i] = keys[step / 2 + i * step];
    }
#pragma GCC unroll 16
    for (int i = 0; i < count; i++) {
        x[i] = v_load(sample + i * LANES);
    }
    quick_sort_columns(x, count);
    v_store(sample, x[0]);
    return sample[LANES / 2];
}

static element quick_pivot(const element *keys, int64_t n) {
    return n < QUICK_LONG ? quick_median(keys, n / (QUICK_SAMPLE * LANES), QUICK_SAMPLE)
                          : quick_median(keys, n / QUICK_SHORT, QUICK_VECTORS);
}

/* A partition of keys in place. Keys from `first` to `last` have not been read, places from `low` to `high` not been
 * written. `held` has the first two groups, which are moved last; the group that was read last, which is moved next;
 * and at the end the keys left in the middle. So before a group is read, first - low and high - last add up to three
 * groups. It is read at the end with less room; then each end has room for a whole group. */
typedef struct quick_partition {
    element *low, *high;
    const element *first, *last;
    element pivot, *held;
} quick_partition;

INLINE void quick_move(quick_partition *p, vec x) {
    int below = B(partition)((element_bits *)p->low, (element_bits *)p->high, v_bits(x), v_lt(x, v_set(p->pivot)));
    p->low += below;
    p->high -= LANES - below;
}

INLINE void quick_load_group(vec *x, const element *keys) {
#pragma GCC unroll 8
    for (int i = 0; i < QUICK_STEPS; i++) {
        x[i] = v_load(keys + i * LANES);
    }
}

/* Moves about SORT_BLOCK keys. Reads a group before it moves the one read before, so that loads do not wait for the
 * count of keys below the pivot. */
static lw_status quick_partition_task(lw_context *context, int64_t task, const void *argument) {
    quick_partition *all = *(quick_partition *const *)argument, p = *all;
    vec x[QUICK_STEPS], next[QUICK_STEPS];
    quick_load_group(x, p.held + 2 * QUICK_GROUP);
    for (int64_t i = min_int64(p.last - p.first, SORT_BLOCK) / QUICK_GROUP; i > 0; i--) {
        int is_last = p.first - p.low > p.high - p.last;
        p.last -= is_last ? QUICK_GROUP : 0;
        quick_load_group(next, is_last ? p.last : p.first);
        p.first += is_last ? 0 : QUICK_GROUP;
#pragma GCC unroll 8
        for (int j = 0; j < QUICK_STEPS; j++) {
            quick_move(&p, x[j]);
            x[j] = next[j];
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < QUICK_STEPS; j++) {
        v_store(p.held + 2 * QUICK_GROUP + j * LANES, x[j]);
    }
    *all = p;
    return LW_OK;
}

/* Moves the keys below a pivot to the front, and sets *below to how many they are. Out of line, so that `held` is not
 * in every frame of the recursion. */
static __attribute__((noinline)) lw_status quick_divide(lw_context *context, element *keys, int64_t n, element pivot,
                                                        int64_t *below) {
    element held[4 * QUICK_GROUP]; /* at the end also less than a group from the middle */
    quick_partition p = {keys, keys + n, keys, keys + n, pivot, held}, *argument = &p;
    int64_t left = 0;
    if (n >= 3 * QUICK_GROUP) {
        p.first += 2 * QUICK_GROUP;
        p.last -= QUICK_GROUP;
        left = 3 * QUICK_GROUP;
        __builtin_memcpy(held, keys, 2 * QUICK_GROUP * sizeof *keys);
        __builtin_memcpy(held + 2 * QUICK_GROUP, p.last, QUICK_GROUP * sizeof *keys);
        while (p.last - p.first >= QUICK_GROUP) {
            lw_status status = n <= SORT_BLOCK ? quick_partition_task(context, 0, &argument)
                                               : run_interruptible(context, quick_partition_task, &argument);
            if (status != LW_OK) {
                return status;
            }
        }
    }
    __builtin_memcpy(held + left, p.first, (size_t)(p.last - p.first) * sizeof *keys);
    left += p.last - p.first;
    while (left % LANES) {
        element key = held[--left];
        *p.low = p.high[-1] = key;
        p.low += key < pivot;
        p.high -= key >= pivot;
    }
    for (; left > 0; left -= LANES) {
        quick_move(&p, v_load(held + left - LANES));
    }
    *below = p.low - keys;
    return LW_OK;
}

/* How many nested partitions may sort n keys. Tests define a smaller number. */
#ifndef QUICK_PARTITIONS
#define QUICK_PARTITIONS(n) (2 * (63 - __builtin_clzll((uint64_t)(n))))
#endif

/* Sorts n keys, or clears *is_done. */
static lw_status quick_sort(lw_context *context, element *keys, int64_t n, int partitions, int *is_done) {
    for (; n > QUICK_SHORT && partitions > 0; partitions--) {
        element pivot = quick_pivot(keys, n);
        int64_t below;
        lw_status status = quick_divide(context, keys, n, pivot, &below);
        if (status == LW_OK && below > 0) {
            status = quick_sort(context, keys, below, partitions - 1, is_done);
        } else if (status == LW_OK && pivot < QUICK_LARGEST) {
            PATH("sort: the pivot is the least key");
            status = quick_divide(context, keys, n, quick_next(pivot), &below);
        } else {
            PATH_IF(status == LW_OK, "sort: all keys are the largest");
            return status;
        }
        if (status != LW_OK || !*is_done) {
            return status;
        }
        keys += below;
        n -= below;
    }
    if (n <= QUICK_SHORT / 2) {
        quick_sort_few(keys, (int)n, QUICK_VECTORS / 2);
    } else if (n <= QUICK_SHORT) {
        quick_sort_few(keys, (int)n, QUICK_VECTORS);
    } else {
        PATH("sort: quicksort gives up");
        *is_done = 0;
    }
    return LW_OK;
}

lw_status JOIN(quick_sort, ELEMENT)(lw_context *context, element *keys, int64_t n, int *is_done) {
    *is_done = 1;
    return quick_sort(context, keys, n, QUICK_PARTITIONS(n), is_done);
}
#endif
