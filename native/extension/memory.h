/* System memory for the extension's storages and for the scratch of kernels. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A 64-byte aligned block, or NULL. Free it with the size that it was allocated with. */
void *lw_block_allocate(size_t bytes);
void lw_block_free(void *block, size_t bytes);

/* Scratch for kernels, 64-byte aligned, or NULL. Thread-safe, with or without the GIL. */
void *lw_aligned_allocate(size_t bytes);
void lw_aligned_free(void *memory);

/* Bytes of scratch cached for reuse; freeing all of it. */
int64_t lw_cached_scratch_bytes(void);
void lw_scratch_trim(void);
