/* The cache of freed storages, the memory blocks of tensors. Programs free and allocate arrays all the time; a call
 * of the system's allocator takes longer than most small operations, and large blocks of fresh memory cost page
 * faults. The cache keeps freed blocks in one list per size class. There are four classes per power of two, so that
 * a block of more than 64 bytes is at most a quarter larger than requested. To stay within its limit, the cache
 * frees blocks, starting with the class to which no block was added for the longest time. The GIL guards the cache. */
#include "storage.h"
#include "errors.h"
#include "memory.h"
#include "module.h"
#include "python.h"
#include <stdlib.h>

enum {
    HEADER_BYTES = 64, /* lw_storage precedes its data in the same block */
    SMALLEST_CLASS = 64,
    CLASSES_PER_OCTAVE = 4,
    CLASS_COUNT = CLASSES_PER_OCTAVE * 58 + 1,
    LARGE = 1 << 20 /* bytes; read_cache_limit() is called before the first block of at least this size */
};

_Static_assert(sizeof(lw_storage) <= HEADER_BYTES, "a storage's header must fit before its data");

static struct {
    lw_storage *first; /* the class's list of freed blocks, linked through `owner` */
    int64_t last_used; /* value of allocation_count when a block was last added to the list */
} pool[CLASS_COUNT];

static int64_t reserved_bytes, peak_bytes; /* reserved: from the system, cache included; peak: most in use at once */
static int64_t allocation_count;           /* number of allocations */
static int64_t system_allocation_count;    /* number of allocations that the cache could not serve */
static int64_t retry_count;                /* number of allocations that succeeded only after the cache was freed */
static int cache_limit_is_known;

static int64_t load_bytes(const _Atomic int64_t *bytes) { return atomic_load_explicit(bytes, memory_order_relaxed); }
static void store_bytes(_Atomic int64_t *bytes, int64_t to) { atomic_store_explicit(bytes, to, memory_order_relaxed); }

/* Returns the class of a size and sets `class_bytes` to the size of its blocks: SMALLEST_CLASS * 2^e * (1 + s/4),
 * where e is `exponent` and s is `steps`, from 1 to 4. */
static int size_class(size_t bytes, size_t *class_bytes) {
    if (bytes <= SMALLEST_CLASS) {
        *class_bytes = SMALLEST_CLASS;
        return 0;
    }
    int exponent = 63 - __builtin_clzll((bytes - 1) / SMALLEST_CLASS); /* 2^e < bytes / SMALLEST_CLASS <= 2^(e+1) */
    size_t base = (size_t)SMALLEST_CLASS << exponent;
    size_t step = base / CLASSES_PER_OCTAVE;
    size_t steps = (bytes - base + step - 1) / step;
    *class_bytes = base + steps * step;
    return CLASSES_PER_OCTAVE * exponent + (int)steps;
}

static void free_block(lw_storage *storage) {
    reserved_bytes -= (int64_t)storage->bytes;
    lw_block_free(storage, HEADER_BYTES + storage->bytes);
}

/* Removes the first block from the list of a class and returns it. The list must not be empty. */
static lw_storage *pop_block(int index) {
    lw_storage *storage = pool[index].first;
    pool[index].first = storage->owner;
    store_bytes(&lw_memory_cache.storage_bytes, load_bytes(&lw_memory_cache.storage_bytes) - (int64_t)storage->bytes);
    return storage;
}

/* Frees cached blocks of classes other than `index` until `bytes` fit into the cache. Returns 0 if all those blocks are
 * freed and `bytes` still do not fit. */
static __attribute__((noinline)) int make_room(int64_t bytes, int index) {
    while (lw_cache_space_left() < bytes) {
        int oldest = -1;
        for (int i = 0; i < CLASS_COUNT; i++) {
            if (pool[i].first && i != index && (oldest < 0 || pool[i].last_used < pool[oldest].last_used)) {
                oldest = i;
            }
        }
        if (oldest < 0) {
            return 0;
        }
        free_block(pop_block(oldest));
    }
    return 1;
}

void lw_storage_trim(void) {
    make_room(INT64_MAX, -1);
    lw_scratch_trim();
}

#if defined(__wasm__)

static int read_cache_limit(void) { return 0; }

#else

/* Asks a Python hook for the cache's limit, which depends on the machine's memory. Finding the size of that memory
 * takes time, so this function is not called before the first large block. */
static int read_cache_limit(void) {
    if (cache_limit_is_known) {
        return 0;
    }
    PyObject *answer = lw_call_hook("cache_limit", NULL, NULL, NULL, NULL);
    long long bytes = answer ? PyLong_AsLongLong(answer) : -1;
    Py_XDECREF(answer);
    if (bytes < 0) {
        return -1;
    }
    if (!cache_limit_is_known) { /* another thread may have set the limit while the hook ran */
        cache_limit_is_known = 1;
        store_bytes(&lw_memory_cache.limit, bytes);
    }
    return 0;
}

#endif

/* Allocates a block from the system. Not inlined into lw_storage_new(), the hot path. */
static __attribute__((noinline)) lw_storage *new_block(int64_t bytes, int index, size_t class_bytes) {
    if (class_bytes >= LARGE && read_cache_limit() < 0) {
        return NULL;
    }
    lw_storage *storage = lw_block_allocate(HEADER_BYTES + class_bytes);
    if (!storage && lw_cached_bytes()) {
        lw_storage_trim();
        storage = lw_block_allocate(HEADER_BYTES + class_bytes);
        retry_count += storage != NULL;
    }
    if (!storage) {
        lw_raise_no_memory(bytes);
        return NULL;
    }
    reserved_bytes += (int64_t)class_bytes;
    system_allocation_count++;
    *storage = (lw_storage){.data = (char *)storage + HEADER_BYTES, .bytes = class_bytes, .size_class = index};
    return storage;
}

lw_storage *lw_storage_new(int64_t bytes) {
    if (bytes > PTRDIFF_MAX / 2) { /* leaves room for rounding up and the header */
        lw_raise_no_memory(bytes);
        return NULL;
    }
    size_t class_bytes;
    int index = size_class((size_t)bytes, &class_bytes);
    lw_storage *storage = pool[index].first ? pop_block(index) : new_block(bytes, index, class_bytes);
    if (!storage) {
        return NULL;
    }
    allocation_count++;
    int64_t allocated = reserved_bytes - load_bytes(&lw_memory_cache.storage_bytes);
    peak_bytes = allocated > peak_bytes ? allocated : peak_bytes;
    storage->references = 1;
    return storage;
}

lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *)) {
    lw_storage *storage = malloc(sizeof(lw_storage));
    if (!storage) {
        lw_raise_no_memory(sizeof(lw_storage));
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
    int index = storage->size_class;
    if (index < 0) {
        storage->release(storage);
        free(storage);
        return;
    }
    int64_t bytes = (int64_t)storage->bytes;
    if (lw_cache_space_left() < bytes && (bytes > load_bytes(&lw_memory_cache.limit) || !make_room(bytes, index))) {
        free_block(storage);
        return;
    }
    store_bytes(&lw_memory_cache.storage_bytes, load_bytes(&lw_memory_cache.storage_bytes) + bytes);
    storage->owner = pool[index].first;
    pool[index].first = storage;
    pool[index].last_used = allocation_count;
}

static PyObject *none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *empty_cache(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    lw_storage_trim();
    return none();
}

/* lanewise/memory.py has checked that the number is an int from 0 to 2^63 - 1. */
static PyObject *set_cache_limit(PyObject *module, PyObject *bytes) {
    (void)module;
    int64_t new_limit = PyLong_AsLongLong(bytes);
    if (PyErr_Occurred()) {
        return NULL;
    }
    cache_limit_is_known = 1;
    store_bytes(&lw_memory_cache.limit, new_limit);
    if (!make_room(0, -1)) {
        lw_scratch_trim();
    }
    return none();
}

static PyObject *reset_peak_memory_stats(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    peak_bytes = reserved_bytes - load_bytes(&lw_memory_cache.storage_bytes);
    return none();
}

/* memory_stats(): a tuple of numbers, to which lanewise/memory.py adds names. */
static PyObject *memory_stats(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    if (read_cache_limit() < 0) {
        return NULL;
    }
    int64_t allocated = reserved_bytes - load_bytes(&lw_memory_cache.storage_bytes), cached = lw_cached_bytes();
    int64_t numbers[] = {allocated,
                         peak_bytes,
                         cached,
                         allocated + cached,
                         load_bytes(&lw_memory_cache.limit),
                         allocation_count,
                         allocation_count - system_allocation_count,
                         retry_count};
    return lw_int_tuple(sizeof numbers / sizeof *numbers, numbers);
}

PyMethodDef lw_storage_functions[] = {
    {"empty_cache", empty_cache, METH_NOARGS, NULL},
    {"set_cache_limit", set_cache_limit, METH_O, NULL},
    {"reset_peak_memory_stats", reset_peak_memory_stats, METH_NOARGS, NULL},
    {"memory_stats", memory_stats, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
