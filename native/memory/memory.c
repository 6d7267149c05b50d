/* Allocates blocks of memory from the system. Fresh memory costs a page fault per 4 KB, and a page fault takes
 * several times as long as computing 4 KB of results. On Linux, a large block is therefore a separate mapping, aligned
 * to a huge page, and madvise() asks for huge pages: one page fault per 2 MB. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include <sys/mman.h>
#define HUGE_PAGE ((size_t)2 << 20) /* bytes on x86, and on ARM with pages of 4 KB */
/* The length of a mapping is a multiple of this, the largest page size that Linux may use on ARM. */
#define LARGEST_PAGE ((size_t)64 << 10)
#endif
#include "memory/memory.h"
#include <stdlib.h>

/* read_cache_limit() in storage.c replaces the limit, except in WebAssembly, where it is 1/16 of the 4 GB. */
lw_cache lw_memory_cache = {.limit = (int64_t)256 << 20};

/* 4K aliasing: a processor delays a load if the lowest 12 bits of its address equal those of an unfinished store. If
 * these bits of a result's address are slightly above an operand's, every load conflicts with the store before it. On
 * Zen 4 (2026-11), with a distance of 64 bytes, relu of 16K elements takes 1.6 times as long, and an addition of 128K
 * elements 1.4 times. Blocks that start on a page boundary cannot conflict in this way. Small blocks are not aligned to
 * pages, because that would waste too much memory. */
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
    madvise(memory + before, length, MADV_HUGEPAGE); /* a failure does not matter: small pages work, too */
    return memory + before;
}

static void unmap(void *block, size_t bytes) { munmap(block, mapped_bytes(bytes)); }

#else

static int is_mapped(size_t bytes) { return 0; }
static void *map(size_t bytes) { return NULL; }
static void unmap(void *block, size_t bytes) { (void)block, (void)bytes; }

#endif

void *lw_with_room(void *items, size_t count, size_t *capacity, size_t item_bytes) {
    if (count < *capacity) {
        return items;
    }
    size_t larger = *capacity ? 2 * *capacity : 64;
    void *moved = realloc(items, larger * item_bytes);
    *capacity = moved ? larger : *capacity;
    return moved;
}

/* A block from malloc() is aligned afterwards; the word before the block holds the address that malloc() returned. */
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
