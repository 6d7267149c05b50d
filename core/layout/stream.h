/* Streaming stores, for results larger than the caches. An ordinary store first reads the cache line from DRAM, which
 * adds a third to the memory traffic of adding two arrays. Streaming stores bypass the caches and write whole lines
 * without reading them. */
#pragma once

#include "lanewise.h"
#include "simd/simd.h"

enum { STREAM_LINE = 64 }; /* bytes of a cache line, which streaming stores must fill */

/* Returns whether to write a result of this size by streaming stores. */
INLINE int stream_pays(const lw_context *context, int64_t bytes) {
    return SIMD_STREAM && context->cache_bytes && (uint64_t)bytes > context->cache_bytes;
}

/* Returns the number of bytes from `to` to the next cache line. */
INLINE int64_t stream_lead(const void *to) { return -(intptr_t)to & (STREAM_LINE - 1); }

/* Copies `count` bytes, whole cache lines by streaming stores. Other threads may read the copy only after
 * stream_end(). */
void stream_copy(char *to, const char *from, int64_t count);
