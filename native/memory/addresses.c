/* Addresses that stand for blocks of memory that the host cannot access. */
#include "memory/addresses.h"
#include "memory/memory.h"
#include <string.h>

#if UINTPTR_MAX > UINT32_MAX
#define FIRST ((uintptr_t)1 << 62) /* user space of all 64-bit systems is below */
#define END ((uintptr_t)3 << 61)
#else
#define FIRST ((uintptr_t)1 << 31) /* modules of WebAssembly that use more than 2 GB of memory are rare */
#define END (UINTPTR_MAX - LW_BLOCK_ALIGNMENT + 1)
#endif

static uintptr_t end_of(const lw_block *block) {
    return ((uintptr_t)block->data + block->bytes + LW_BLOCK_ALIGNMENT - 1) & ~(uintptr_t)(LW_BLOCK_ALIGNMENT - 1);
}

/* Finds room for a block: after the last one if possible, or else in the first gap. Returns the position of the new
 * block in the table, or -1 if no gap is large enough. */
static ptrdiff_t find_room(const lw_addresses *addresses, size_t bytes, uintptr_t *start) {
    size_t count = addresses->count;
    *start = count ? end_of(&addresses->blocks[count - 1]) : FIRST;
    if (bytes <= END - *start) {
        return (ptrdiff_t)count;
    }
    *start = FIRST;
    for (size_t i = 0; i < count; i++) {
        if ((uintptr_t)addresses->blocks[i].data - *start >= bytes) {
            return (ptrdiff_t)i;
        }
        *start = end_of(&addresses->blocks[i]);
    }
    return -1;
}

lw_block *lw_add_block(lw_addresses *addresses, size_t bytes) {
    lw_block *blocks = lw_with_room(addresses->blocks, addresses->count, &addresses->capacity, sizeof *blocks);
    if (!blocks) {
        return NULL;
    }
    addresses->blocks = blocks;
    uintptr_t start;
    ptrdiff_t position = find_room(addresses, bytes, &start);
    if (position < 0) {
        return NULL;
    }
    lw_block *block = &addresses->blocks[position];
    memmove(block + 1, block, (addresses->count - (size_t)position) * sizeof *block);
    addresses->count++;
    *block = (lw_block){.data = (char *)start, .bytes = bytes, .number = ++addresses->last_number};
    return block;
}

lw_block *lw_find_block(const lw_addresses *addresses, const char *data) {
    size_t low = 0, high = addresses->count; /* the block, if there is one, is at low .. high - 1 */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)addresses->blocks[middle].data <= (uintptr_t)data) {
            low = middle;
        } else {
            high = middle;
        }
    }
    lw_block *block = &addresses->blocks[low];
    return low < high && (uintptr_t)data - (uintptr_t)block->data < block->bytes ? block : NULL;
}

void lw_remove_block(lw_addresses *addresses, lw_block *block) {
    size_t position = (size_t)(block - addresses->blocks);
    memmove(block, block + 1, (addresses->count - position - 1) * sizeof *block);
    addresses->count--;
}
