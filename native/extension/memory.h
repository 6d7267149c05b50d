/* Allocates system memory for the storages of tensors and for the scratch of kernels. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Allocates a 64-byte aligned block, or returns NULL. Free the block with the size with which it was allocated. */
void *lw_block_allocate(size_t bytes);
void lw_block_free(void *block, size_t bytes);

/* Allocates scratch memory for kernels, 64-byte aligned, or returns NULL. These two functions are thread-safe, with or
 * without the GIL. */
void *lw_aligned_allocate(size_t bytes);
void lw_aligned_free(void *memory);

/* Freed scratch memory is cached for reuse. The first function returns the size of that cache in bytes, the second
 * frees all of it. */
int64_t lw_cached_scratch_bytes(void);
void lw_scratch_trim(void);
