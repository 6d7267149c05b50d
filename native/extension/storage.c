/* Pooled storage. Arrays are freed and made again all the time; asking the system each time costs more than most
 * small operations, and large fresh memory costs a page fault for every 4 KB. Freed blocks wait in one list a size
 * class, four classes to each power of two, so at most a quarter of a block is waste. The GIL guards it all. */
#include "errors.h"
#include "tensor.h"
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    HEADER = 64, /* lw_storage stands before its data, in the same block */
    SMALLEST = 64,
    STEPS = 4,
    CLASS_COUNT = STEPS * 58 + 1
};

/* Kept for reuse at most; beyond this a freed block goes back to the system. */
#define KEEP_BYTES ((size_t)256 << 20)

_Static_assert(sizeof(lw_storage) <= HEADER, "a storage's header must fit before its data");

static struct {
    lw_storage *first; /* linked through `owner` */
} pool[CLASS_COUNT];
static size_t kept_bytes;

/* The class of a size and the class's own size: SMALLEST 2^e (1 + s/4), with s from 1 to 4. */
static int size_class(size_t bytes, size_t *class_bytes) {
    if (bytes <= SMALLEST) {
        *class_bytes = SMALLEST;
        return 0;
    }
    int exponent = 63 - __builtin_clzll((bytes - 1) / SMALLEST); /* SMALLEST 2^e < bytes <= SMALLEST 2^(e+1) */
    size_t base = (size_t)SMALLEST << exponent;
    size_t step = base / STEPS;
    size_t steps = (bytes - base + step - 1) / step;
    *class_bytes = base + steps * step;
    return STEPS * exponent + (int)steps;
}

/* Aligned memory from malloc: the original address is kept in the word before the block. */
static void *system_allocate(size_t bytes) {
    char *memory = malloc(bytes + ALIGNMENT + sizeof(void *));
    if (!memory) {
        return NULL;
    }
    char *aligned = (char *)(((uintptr_t)memory + sizeof(void *) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    ((void **)aligned)[-1] = memory;
    return aligned;
}

static void system_free(void *aligned) { free(((void **)aligned)[-1]); }

void *lw_aligned_allocate(size_t bytes) { return bytes > PTRDIFF_MAX / 2 ? NULL : system_allocate(bytes); }

void lw_aligned_free(void *memory) {
    if (memory) {
        system_free(memory);
    }
}

void lw_storage_trim(void) {
    for (int index = 0; index < CLASS_COUNT; index++) {
        while (pool[index].first) {
            lw_storage *storage = pool[index].first;
            pool[index].first = storage->owner;
            system_free(storage);
        }
    }
    kept_bytes = 0;
}

lw_storage *lw_storage_new(const char *operation, int64_t bytes) {
    if (bytes > PTRDIFF_MAX / 2) { /* the class is larger, and a header comes on top */
        lw_raise_no_memory(operation, bytes);
        return NULL;
    }
    size_t class_bytes;
    int index = size_class((size_t)bytes, &class_bytes);
    lw_storage *storage = pool[index].first;
    if (storage) {
        pool[index].first = storage->owner;
        kept_bytes -= class_bytes;
    } else {
        storage = system_allocate(HEADER + class_bytes);
        if (!storage && kept_bytes) { /* give back what is kept, then try once more */
            lw_storage_trim();
            storage = system_allocate(HEADER + class_bytes);
        }
        if (!storage) {
            lw_raise_no_memory(operation, bytes);
            return NULL;
        }
    }
    *storage =
        (lw_storage){.references = 1, .data = (char *)storage + HEADER, .bytes = class_bytes, .size_class = index};
    return storage;
}

lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *)) {
    lw_storage *storage = malloc(sizeof(lw_storage));
    if (!storage) {
        lw_raise_no_memory("asarray", sizeof(lw_storage));
        return NULL;
    }
    *storage = (lw_storage){.references = 1,
                            .data = data,
                            .bytes = bytes,
                            .read_only = read_only,
                            .size_class = -1,
                            .release = release,
                            .owner = owner};
    return storage;
}

void lw_storage_release(lw_storage *storage) {
    if (--storage->references > 0) {
        return;
    }
    if (storage->size_class < 0) {
        storage->release(storage);
        free(storage);
    } else if (kept_bytes + storage->bytes <= KEEP_BYTES) {
        kept_bytes += storage->bytes;
        storage->owner = pool[storage->size_class].first;
        pool[storage->size_class].first = storage;
    } else {
        system_free(storage);
    }
}
