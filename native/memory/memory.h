/* Allocates system memory for the storages of tensors and for the scratch of kernels. */
#pragma once

#include "visibility.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates a 64-byte aligned block, or returns NULL. Free the block with the size with which it was allocated. */
void *lw_block_allocate(size_t bytes);
void lw_block_free(void *block, size_t bytes);

/* Allocates scratch memory for kernels, 64-byte aligned, or returns NULL. These two functions are thread-safe, with or
 * without the GIL. */
void *lw_aligned_allocate(size_t bytes);
void lw_aligned_free(void *memory);

/* Makes room for one more item in an array from malloc(), of which `count` items are in use. Returns the items. If
 * memory runs out, returns NULL and leaves them as they are. */
void *lw_with_room(void *items, size_t count, size_t *capacity, size_t item_bytes);

void lw_scratch_trim(void); /* frees all cached scratch memory */

/* The cache of freed memory: the bytes in it, headers excluded, and how many may be. Atomic, because a thread that
 * frees scratch memory reads them without the GIL. */
typedef struct lw_cache {
    _Atomic int64_t storage_bytes, scratch_bytes, limit;
} lw_cache;
LW_HIDDEN lw_cache lw_memory_cache;
static inline int64_t lw_cached_bytes(const lw_cache *cache) {
    return atomic_load_explicit(&cache->storage_bytes, memory_order_relaxed) +
           atomic_load_explicit(&cache->scratch_bytes, memory_order_relaxed);
}
static inline int64_t lw_cache_space_left(const lw_cache *cache) {
    return atomic_load_explicit(&cache->limit, memory_order_relaxed) - lw_cached_bytes(cache);
}
