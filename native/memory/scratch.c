/* Scratch memory for kernels, which allocate and free it in every call, on any thread. Freed blocks
 * are cached in a few slots, and threads access each slot by atomic exchange: no thread waits for another, and the
 * child of a fork inherits no lock that is held. Threads search the slots from different ones on, so that each finds
 * the blocks that it has freed itself, which its processor's cache may still hold. */
#include "memory/memory.h"

#if defined(__wasm__) /* WebAssembly has no page faults, so caching would gain nothing */

void *lw_aligned_allocate(size_t bytes) { return bytes > PTRDIFF_MAX / 2 ? NULL : lw_block_allocate(bytes); }

void lw_aligned_free(void *memory) {
    if (memory) {
        lw_block_free(memory, 0);
    }
}

void lw_scratch_trim(void) {}

#else

enum {
    HEADER_BYTES = 64, /* a struct scratch precedes the kernel's memory in its block */
    SLOTS = 64,
    SLOTS_APART = 4,        /* between the slots that two threads start with; that many fill a cache line */
    WORTH_KEEPING = 1 << 16 /* bytes; malloc is fast for smaller blocks */
};

typedef struct scratch {
    size_t bytes; /* size of the block, including the header */
} scratch;

static _Alignas(64) struct {
    _Atomic(scratch *) block;
    _Atomic size_t bytes; /* size of the block last stored here, to skip blocks that do not fit; may be outdated */
} slots[SLOTS];
static _Atomic unsigned next_slot;

/* Returns the slot with which this thread starts. */
static unsigned own_slot(void) {
    static _Atomic unsigned threads;
    static _Thread_local unsigned number; /* counts from 1 */
    if (number == 0) {
        number = 1 + atomic_fetch_add(&threads, 1);
    }
    return number * SLOTS_APART;
}

static scratch *pop_slot(unsigned slot) {
    int is_empty = !atomic_load_explicit(&slots[slot].block, memory_order_relaxed);
    scratch *block = is_empty ? NULL : atomic_exchange(&slots[slot].block, NULL);
    if (block) {
        atomic_fetch_sub(&lw_memory_cache.scratch_bytes, (int64_t)block->bytes);
    }
    return block;
}

static void push_slot(scratch *block) {
    size_t bytes = block->bytes; /* read now: once the block is in a slot, another thread may take and free it */
    atomic_fetch_add(&lw_memory_cache.scratch_bytes, (int64_t)bytes);
    unsigned own = own_slot();
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned slot = (own + i) % SLOTS;
        scratch *none = NULL;
        if (atomic_compare_exchange_strong(&slots[slot].block, &none, block)) {
            atomic_store_explicit(&slots[slot].bytes, bytes, memory_order_relaxed);
            return;
        }
    }
    unsigned slot = atomic_fetch_add(&next_slot, 1) % SLOTS;
    scratch *old = atomic_exchange(&slots[slot].block, block);
    atomic_store_explicit(&slots[slot].bytes, bytes, memory_order_relaxed);
    if (old) {
        atomic_fetch_sub(&lw_memory_cache.scratch_bytes, (int64_t)old->bytes);
        lw_block_free(old, old->bytes);
    }
}

/* Returns a cached block of at least `needed` bytes that is not much larger, or NULL. */
static scratch *cached_block(size_t needed) {
    unsigned own = own_slot();
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned slot = (own + i) % SLOTS;
        size_t has = atomic_load_explicit(&slots[slot].bytes, memory_order_relaxed);
        scratch *block = has < needed || has > 2 * needed ? NULL : pop_slot(slot);
        if (block && block->bytes >= needed) {
            return block;
        }
        if (block) { /* another thread has put a smaller block into the slot */
            push_slot(block);
        }
    }
    return NULL;
}

void *lw_aligned_allocate(size_t bytes) {
    if (bytes > PTRDIFF_MAX / 2) {
        return NULL;
    }
    size_t needed = HEADER_BYTES + bytes;
    scratch *block = needed >= WORTH_KEEPING ? cached_block(needed) : NULL;
    if (!block) {
        block = lw_block_allocate(needed);
        if (!block) {
            return NULL;
        }
        block->bytes = needed;
    }
    return (char *)block + HEADER_BYTES;
}

void lw_aligned_free(void *memory) {
    if (!memory) {
        return;
    }
    scratch *block = (scratch *)(void *)((char *)memory - HEADER_BYTES);
    if (block->bytes >= WORTH_KEEPING && (int64_t)block->bytes <= lw_cache_space_left(&lw_memory_cache)) {
        push_slot(block);
    } else {
        lw_block_free(block, block->bytes);
    }
}

void lw_scratch_trim(void) {
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        scratch *block = pop_slot(slot);
        if (block) {
            lw_block_free(block, block->bytes);
        }
    }
}

#endif
