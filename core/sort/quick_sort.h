/* Quicksort of keys, where SIMD_PARTITION is 1. quick_keys.h has the algorithm. */
#pragma once

#include "sort/radix_sort.h"

enum { QUICK_THREADS = 4 /* so many threads sort a long row faster by radix sort, which they share */ };

static inline int sort_is_quick(const lw_context *context, int64_t n) {
    return context->threads < QUICK_THREADS || n < SORT_DIVIDED;
}

/* Sort the n keys at `keys`. Both arrays have room for n keys and one more vector. */
lw_status sort_quick_keys_32(lw_context *context, uint32_t *keys, uint32_t *spare, int64_t n);
lw_status sort_quick_keys_64(lw_context *context, uint64_t *keys, uint64_t *spare, int64_t n);
