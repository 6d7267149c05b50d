/* Memory of the system for the extension's storages and for kernels. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A block of memory, 64-byte aligned, or NULL. It is freed with the size that it was made with. */
void *lw_block_allocate(size_t bytes);
void lw_block_free(void *block, size_t bytes);

/* Scratch memory for kernels, 64-byte aligned, or NULL. Any thread may call these, with or without the GIL. */
void *lw_aligned_allocate(size_t bytes);
void lw_aligned_free(void *memory);

/* Bytes of scratch that wait to be used again, and letting all of it go. */
int64_t lw_cached_scratch_bytes(void);
void lw_scratch_trim(void);
