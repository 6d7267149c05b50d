/* The cache of freed storages, the memory blocks of tensors. Programs free and allocate arrays all the time; a call
 * of the system's allocator takes longer than most small operations, and large blocks of fresh memory cost page
 * faults. The cache keeps freed blocks in one list per size class. There are four classes per power of two, so that
 * a block of more than 64 bytes is at most a quarter larger than requested. To stay within its limit, the cache
 * frees blocks, starting with the class to which no block was added for the longest time. The GIL guards the cache. */
#include "tensor/storage.h"
#include "memory/memory.h"
#include "python/backends.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/python.h"
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 64, /* lw_storage precedes its data in the same block */
    SMALLEST_CLASS = 64,
    CLASSES_PER_OCTAVE = 4,
    CLASS_COUNT = CLASSES_PER_OCTAVE * 58 + 1,
    LARGE = 1 << 20 /* bytes; read_cache_limit() is called before the first block of at least this size */
};

_Static_assert(sizeof(lw_storage) <= HEADER_BYTES, "a storage's header must fit before its data");

/* The cache of the host or of a device, and its statistics. */
struct lw_pool {
    lw_cache *cache;
    int64_t reserved_bytes, peak_bytes; /* reserved: from the system, cache included; peak: most in use at once */
    int64_t allocation_count;           /* number of allocations */
    int64_t system_allocation_count;    /* number of allocations that the cache could not serve */
    int64_t retry_count;                /* number of allocations that succeeded only after the cache was freed */
    struct {
        lw_storage *first; /* the class's list of freed blocks, linked through `owner` */
        int64_t last_used; /* value of allocation_count when a block was last added to the list */
    } classes[CLASS_COUNT];
};

lw_device lw_host_device = {.name = "the CPU"};

static lw_pool host_pool = {.cache = &lw_memory_cache};
static int cache_limit_is_known; /* of the host */

static lw_pool *pool_of(const lw_device *device) { return device ? device->pool : &host_pool; }

lw_pool *lw_pool_new(int64_t limit) {
    struct {
        lw_pool pool;
        lw_cache cache;
    } *both = calloc(1, sizeof *both);
    if (!both) {
        return (void *)PyErr_NoMemory();
    }
    both->cache.limit = limit;
    both->pool.cache = &both->cache;
    return &both->pool;
}

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

static void free_block(lw_pool *pool, lw_storage *storage) {
    pool->reserved_bytes -= (int64_t)storage->bytes;
    if (storage->device) {
        storage->device->release(storage->device, storage->data, storage->bytes);
        free(storage);
    } else {
        lw_block_free(storage, HEADER_BYTES + storage->bytes);
    }
}

static void add_cached(lw_pool *pool, int64_t bytes) {
    store_bytes(&pool->cache->storage_bytes, load_bytes(&pool->cache->storage_bytes) + bytes);
}

/* Removes the first block from the list of a class and returns it. The list must not be empty. */
static lw_storage *pop_block(lw_pool *pool, int index) {
    lw_storage *storage = pool->classes[index].first;
    pool->classes[index].first = storage->owner;
    add_cached(pool, -(int64_t)storage->bytes);
    return storage;
}

/* Frees cached blocks of classes other than `index` until `bytes` fit into the cache. Returns 0 if all those blocks are
 * freed and `bytes` still do not fit. */
static __attribute__((noinline)) int make_room(lw_pool *pool, int64_t bytes, int index) {
    while (lw_cache_space_left(pool->cache) < bytes) {
        int oldest = -1;
        for (int i = 0; i < CLASS_COUNT; i++) {
            if (pool->classes[i].first && i != index &&
                (oldest < 0 || pool->classes[i].last_used < pool->classes[oldest].last_used)) {
                oldest = i;
            }
        }
        if (oldest < 0) {
            return 0;
        }
        free_block(pool, pop_block(pool, oldest));
    }
    return 1;
}

void lw_storage_trim(lw_device *device) {
    if (device && device->is_lost) { /* keep nothing that is freed later, either */
        store_bytes(&device->pool->cache->limit, 0);
    }
    make_room(pool_of(device), INT64_MAX, -1);
    if (!device) {
        lw_scratch_trim();
    }
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

int lw_check_device(const lw_device *device, lw_status status) {
    if (status == LW_OK) {
        return 0;
    }
    if (status == LW_INTERRUPTED) { /* with an error set */
        return -1;
    }
    if (status == LW_NO_MEMORY) {
        return lw_refuse(LW_OUT_OF_MEMORY_ERROR, "%s has no memory left%s%s; use smaller tensors, or release some",
                         device->name, device->message[0] ? ": " : "", device->message);
    }
    if (status == LW_REFUSED) {
        return lw_refuse(LW_BACKEND_ERROR, "%s cannot run this call: %s", device->name, device->message);
    }
    int can_reset = device->is_lost && lw_devices[lw_find_backend(device->name)] == device;
    return lw_refuse(LW_DEVICE_FAULT, "%s %s: %s%s%s%s", device->name, device->is_lost ? "was lost" : "failed",
                     device->message, can_reset ? "; open it again with lw.reset(\"" : "",
                     can_reset ? device->name : "", can_reset ? "\")" : "");
}

static lw_storage *raise_no_memory(const lw_device *device, int64_t bytes) {
    const char *reason = device ? device->message : "";
    return lw_raise(LW_OUT_OF_MEMORY_ERROR, "cannot allocate %lld bytes%s%s%s%s; use smaller arrays, or release some",
                    (long long)bytes, device ? " on " : "", device ? device->name : "", reason[0] ? ": " : "", reason);
}

/* Allocates memory from the system or the device. */
static lw_storage *allocate(lw_device *device, size_t bytes, lw_status *status) {
    lw_storage *storage = device ? malloc(sizeof *storage) : lw_block_allocate(HEADER_BYTES + bytes);
    char *data = storage ? (char *)storage + HEADER_BYTES : NULL;
    *status = !storage ? LW_NO_MEMORY : device ? device->allocate(device, bytes, &data) : LW_OK;
    if (storage && *status != LW_OK) {
        free(storage);
        return NULL;
    }
    if (storage) {
        *storage = (lw_storage){.data = data, .device = device, .bytes = bytes};
    }
    return storage;
}

/* Makes a new block. Not inlined into lw_storage_new(), the hot path. */
static __attribute__((noinline)) lw_storage *new_block(lw_device *device, int64_t bytes, int index,
                                                       size_t class_bytes) {
    lw_pool *pool = pool_of(device);
    lw_status status;
    if (!device && class_bytes >= LARGE && read_cache_limit() < 0) {
        return NULL;
    }
    if (device && device->max_block && class_bytes > device->max_block && (size_t)bytes <= device->max_block) {
        class_bytes = device->max_block;
    }
    lw_storage *storage = allocate(device, class_bytes, &status);
    if (status == LW_NO_MEMORY && (device || lw_cached_bytes(pool->cache))) {
        if (device && lw_end_chain(device) < 0) { /* a chain keeps what its nodes read */
            return NULL;
        }
        if (device) {
            device->flush(device); /* what it frees may wait for launches */
        }
        lw_storage_trim(device);
        storage = allocate(device, class_bytes, &status);
        pool->retry_count += storage != NULL;
    }
    if (status != LW_OK && status != LW_NO_MEMORY) {
        lw_check_device(device, status);
        return NULL;
    }
    if (!storage) {
        return raise_no_memory(device, bytes);
    }
    pool->reserved_bytes += (int64_t)class_bytes;
    pool->system_allocation_count++;
    storage->size_class = index;
    return storage;
}

lw_storage *lw_storage_new(int64_t bytes, lw_device *device) {
    if (bytes > PTRDIFF_MAX / 2) { /* leaves room for rounding up and the header */
        return raise_no_memory(NULL, bytes);
    }
    size_t class_bytes;
    int index = size_class((size_t)bytes, &class_bytes);
    lw_pool *pool = pool_of(device);
    const lw_storage *first = pool->classes[index].first;
    lw_storage *storage =
        first && first->bytes >= (size_t)bytes ? pop_block(pool, index) : new_block(device, bytes, index, class_bytes);
    if (!storage) {
        return NULL;
    }
    pool->allocation_count++;
    int64_t allocated = pool->reserved_bytes - load_bytes(&pool->cache->storage_bytes);
    pool->peak_bytes = allocated > pool->peak_bytes ? allocated : pool->peak_bytes;
    storage->references = 1;
    storage->written = 0;
    storage->is_shared = 0;
    return storage;
}

lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *)) {
    lw_storage *storage = malloc(sizeof(lw_storage));
    if (!storage) {
        return raise_no_memory(NULL, sizeof *storage);
    }
    *storage = (lw_storage){.references = 1, .data = data, .bytes = bytes, .is_shared = 1, .size_class = LW_BORROWED};
    storage->read_only = (uint8_t)read_only;
    storage->release = release;
    storage->owner = owner;
    return storage;
}

lw_storage *lw_storage_defer(int64_t bytes, lw_device *device) {
    lw_storage *storage = malloc(sizeof *storage);
    if (!storage) {
        return raise_no_memory(NULL, sizeof *storage);
    }
    *storage = (lw_storage){.references = 1, .device = device, .bytes = (size_t)bytes, .size_class = LW_PENDING};
    storage->data = (char *)storage;
    return storage;
}

static void release_adopted(lw_storage *storage) { lw_storage_release(storage->owner); }

void lw_storage_adopt(lw_storage *storage, lw_storage *block) {
    if (!block->device) { /* its header and its data are one block of memory */
        storage->data = block->data;
        storage->size_class = LW_BORROWED;
        storage->release = release_adopted;
        storage->owner = block;
        return;
    }
    storage->data = block->data;
    storage->bytes = block->bytes;
    storage->size_class = block->size_class;
    free(block); /* the storage itself takes its place */
}

void lw_storage_release(lw_storage *storage) {
    if (--storage->references > 0) {
        if (lw_is_pending(storage) && !storage->device) { /* or else the chain would keep large operands */
            lw_host_device.abandon(&lw_host_device);
        }
        return;
    }
    int index = storage->size_class;
    if (index < 0) {
        if (index == LW_BORROWED) {
            storage->release(storage);
        }
        free(storage);
        return;
    }
    lw_pool *pool = pool_of(storage->device);
    int64_t bytes = (int64_t)storage->bytes;
    if (lw_cache_space_left(pool->cache) < bytes &&
        (bytes > load_bytes(&pool->cache->limit) || !make_room(pool, bytes, index))) {
        free_block(pool, storage);
        return;
    }
    add_cached(pool, bytes);
    storage->owner = pool->classes[index].first;
    pool->classes[index].first = storage;
    pool->classes[index].last_used = pool->allocation_count;
}

static PyObject *empty_cache(PyObject *module, PyObject *unused) {
    for (int backend = 0; backend < LW_BACKEND_COUNT; backend++) { /* most share the host's */
        lw_storage_trim(lw_devices[backend]);
    }
    return Py_NewRef(Py_None);
}

/* lanewise/backends/memory.py has checked that the number is an int from 0 to 2^63 - 1. */
static PyObject *set_cache_limit(PyObject *module, PyObject *bytes) {
    int64_t new_limit = PyLong_AsLongLong(bytes);
    if (PyErr_Occurred()) {
        return NULL;
    }
    cache_limit_is_known = 1;
    store_bytes(&lw_memory_cache.limit, new_limit);
    if (!make_room(&host_pool, 0, -1)) {
        lw_scratch_trim();
    }
    return Py_NewRef(Py_None);
}

static PyObject *reset_peak_memory_stats(PyObject *module, PyObject *unused) {
    for (int backend = 0; backend < LW_BACKEND_COUNT; backend++) {
        lw_pool *pool = pool_of(lw_devices[backend]);
        pool->peak_bytes = pool->reserved_bytes - load_bytes(&pool->cache->storage_bytes);
    }
    return Py_NewRef(Py_None);
}

/* Adds the counters of a device, or those of all devices if `backend` is -1. */
static void add_counters(int backend, int64_t *sums) {
    for (int each = 0; each <= LW_BACKEND_COUNT; each++) {
        const lw_device *device = each == LW_BACKEND_COUNT ? &lw_host_device : lw_devices[each];
        device = backend == each || backend < 0 ? device : NULL;
        for (int i = 0; device && i < LW_COUNTER_COUNT; i++) {
            sums[i] += device->counters[i];
        }
    }
}

/* memory_stats(backend or None): a tuple of numbers about the memory of the backend's device, and its counters. None is
 * the memory of the host, with the counters of all devices. lanewise/backends/memory.py adds names. */
static PyObject *memory_stats(PyObject *module, PyObject *name) {
    int backend = name == Py_None ? LW_BACKEND_SCALAR : lw_parse_backend(name);
    if (backend < 0 || lw_require_open(backend) < 0 || read_cache_limit() < 0) {
        return NULL;
    }
    const lw_pool *pool = pool_of(lw_devices[backend]);
    int64_t allocated = pool->reserved_bytes - load_bytes(&pool->cache->storage_bytes),
            cached = lw_cached_bytes(pool->cache);
    int64_t sizes[] = {allocated,
                       pool->peak_bytes,
                       cached,
                       allocated + cached,
                       load_bytes(&pool->cache->limit),
                       pool->allocation_count,
                       pool->allocation_count - pool->system_allocation_count,
                       pool->retry_count};
    enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };
    int64_t numbers[SIZE_COUNT + LW_COUNTER_COUNT] = {0};
    memcpy(numbers, sizes, sizeof sizes);
    add_counters(name == Py_None ? -1 : backend, numbers + SIZE_COUNT);
    return lw_int_tuple(sizeof numbers / sizeof *numbers, numbers);
}

PyMethodDef lw_storage_functions[] = {
    {"empty_cache", empty_cache, METH_NOARGS, NULL},
    {"set_cache_limit", set_cache_limit, METH_O, NULL},
    {"reset_peak_memory_stats", reset_peak_memory_stats, METH_NOARGS, NULL},
    {"memory_stats", memory_stats, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
