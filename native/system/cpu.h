/* The instruction sets and the cache sizes of this processor, as far as kernel libraries need them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the LW_CPU_* bits of lanewise.h that the processor has and the operating system lets programs use. */
uint64_t lw_cpu_features(void);

/* Returns the size in bytes of the L2 cache that one core can use; 0 if unknown. */
size_t lw_cpu_l2_bytes(void);

/* Returns the size in bytes of the last-level cache that one core can use; 0 if unknown. */
size_t lw_cpu_cache_bytes(void);
