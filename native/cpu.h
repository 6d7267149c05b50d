/* What this processor can do and has, of what the kernel libraries may need. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The LW_CPU_* bits of lanewise.h that the processor has and the operating system lets programs use. */
uint64_t lw_cpu_features(void);

/* Bytes in the cache of the last level that one core reaches; 0 where the processor does not tell. */
size_t lw_cpu_cache_bytes(void);
