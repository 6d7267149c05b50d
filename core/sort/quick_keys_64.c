#define LW_ELEMENT_UINT64
#include "sort/quick_keys.h"

#if SIMD_PARTITION
lw_status sort_quick_keys_64(lw_context *context, uint64_t *keys, uint64_t *spare, int64_t n) {
    return quick_sort(context, keys, spare, n, 0, quick_partitions(n), sort_radix_keys_64);
}
#endif
