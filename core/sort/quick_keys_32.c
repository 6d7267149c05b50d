#define LW_ELEMENT_UINT32
#include "sort/quick_keys.h"

#if SIMD_PARTITION
lw_status sort_quick_keys_32(lw_context *context, uint32_t *keys, uint32_t *spare, int64_t n) {
    return quick_sort(context, keys, spare, n, 0, quick_partitions(n), sort_radix_keys_32);
}
#endif
