/* LSD radix sort of keys, and of pairs of a key and a position, by digits of 8 bits, and the passes over blocks of
 * items that it and other sorts consist of.
 *
 * Source: Knuth, The Art of Computer Programming 3, 5.2.5. On several threads, each digit takes two passes. In the
 * first, each task counts the digits of its part of the items. The counts tell where each part's items of each digit
 * begin, so that in the second, each task moves its part. The order of the items does not depend on the number of
 * parts. */
#pragma once

#include "lanewise.h"

enum {
    SORT_BLOCK = 1 << 16,  /* items from one interruption point to the next (< 1 ms); a multiple of SORT_CHUNK */
    SORT_CHUNK = 4096,     /* items that are processed together; a multiple of LANES */
    SORT_DIVIDED = 1 << 16 /* minimum number of items of a sort that is divided: its tasks take longer than waking */
};

/* Processes items begin .. end - 1 of a pass, at most SORT_CHUNK. */
typedef void sort_chunk(void *argument, int64_t begin, int64_t end);

/* Runs a pass whose blocks of SORT_BLOCK items do not depend on each other, in any order, on any threads. */
lw_status sort_in_blocks(lw_context *context, int64_t count, sort_chunk *chunk, void *argument);

/* The same, each block after the one before it. */
lw_status sort_in_order(lw_context *context, int64_t count, sort_chunk *chunk, void *argument);

/* A pair of a key of 32 bits, in the upper half, and a position; and one of a key of 64 bits. */
typedef uint64_t sort_pair_32;
typedef struct sort_pair_64 {
    uint64_t key, position;
} sort_pair_64;

/* Sort the n items at *items by their keys, with room for n more at *spare. They exchange the pointers if needed, so
 * that the result is at *items. */
lw_status sort_radix_keys_32(lw_context *context, uint32_t **items, uint32_t **spare, int64_t n);
lw_status sort_radix_keys_64(lw_context *context, uint64_t **items, uint64_t **spare, int64_t n);
lw_status sort_radix_pairs_32(lw_context *context, sort_pair_32 **items, sort_pair_32 **spare, int64_t n);
lw_status sort_radix_pairs_64(lw_context *context, sort_pair_64 **items, sort_pair_64 **spare, int64_t n);
