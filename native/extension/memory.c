/* Blocks of memory from the system. Fresh memory costs a page fault for every 4 KB, several times what it costs to
 * compute what goes there. A large block on Linux is therefore a mapping of its own that begins where a huge page does
 * and asks for such: a fault for every 2 MB. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include <sys/mman.h>
#define HUGE_PAGE ((size_t)2 << 20) /* on x86, and on ARM with pages of 4 KB */
#define LARGEST_PAGE ((size_t)64 << 10)
#endif
#include "memory.h"
#include <stdlib.h>

/* A processor takes a load for one of a store that it has not finished where their addresses agree in the lowest 12 bits,
 * and waits. Where a result begins a little after an operand in these, each load meets the store before it: on Zen 4,
 * 2026-11, relu of 16K takes 1.6 times as long 64 bytes after it, an addition of 128K 1.4 times. Blocks that all begin
 * where a page does never meet so. Small ones would waste too much. */
enum { CACHE_LINE = 64, PAGE = 4096, PAGE_ALIGNED_FROM = 16 * PAGE };

#if defined(HUGE_PAGE)

static size_t mapped_bytes(size_t bytes) { return (bytes + LARGEST_PAGE - 1) & ~(LARGEST_PAGE - 1); }

static int is_mapped(size_t bytes) { return bytes >= HUGE_PAGE; }

static void *map(size_t bytes) {
    size_t length = mapped_bytes(bytes);
    char *memory = mmap(NULL, length + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    size_t before = -(uintptr_t)memory & (HUGE_PAGE - 1);
    if (before) {
        munmap(memory, before);
    }
    munmap(memory + before + length, HUGE_PAGE - before);
    madvise(memory + before, length, MADV_HUGEPAGE); /* where there are none, small pages do */
    return memory + before;
}

static void unmap(void *block, size_t bytes) { munmap(block, mapped_bytes(bytes)); }

#else

static int is_mapped(size_t bytes) {
    (void)bytes;
    return 0;
}
static void *map(size_t bytes) {
    (void)bytes;
    return NULL;
}
static void unmap(void *block, size_t bytes) { (void)block, (void)bytes; }

#endif

/* Of malloc's memory, the original address is kept in the word before the block. */
void *lw_block_allocate(size_t bytes) {
    if (is_mapped(bytes)) {
        return map(bytes);
    }
    size_t alignment = bytes >= PAGE_ALIGNED_FROM ? PAGE : CACHE_LINE;
    char *memory = malloc(bytes + alignment + sizeof(void *));
    if (!memory) {
        return NULL;
    }
    char *aligned = (char *)(((uintptr_t)memory + sizeof(void *) + alignment - 1) & ~(uintptr_t)(alignment - 1));
    ((void **)aligned)[-1] = memory;
    return aligned;
}

void lw_block_free(void *block, size_t bytes) {
    if (is_mapped(bytes)) {
        unmap(block, bytes);
    } else {
        free(((void **)block)[-1]);
    }
}
