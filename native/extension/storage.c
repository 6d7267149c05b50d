/* Pooled storage. Arrays are freed and made again all the time; asking the system each time costs more than most
 * small operations, and large fresh memory costs page faults. Freed blocks wait in one list a size class, four classes
 * to each power of two, so at most a quarter of a block is waste. What waits together is limited: beyond, the class
 * that has been out of use longest gives back its blocks. The GIL guards it all. */
#include "errors.h"
#include "memory.h"
#include "module.h"
#include <stdatomic.h>
#include <stdlib.h>

enum {
    HEADER = 64, /* lw_storage stands before its data, in the same block */
    SMALLEST = 64,
    STEPS = 4,
    CLASS_COUNT = STEPS * 58 + 1,
    LARGE = 1 << 20 /* a block of this size is worth asking how much memory there is */
};

_Static_assert(sizeof(lw_storage) <= HEADER, "a storage's header must fit before its data");

static struct {
    lw_storage *first; /* linked through `owner` */
    int64_t last_used; /* how many blocks had been asked for when one was put here last */
} pool[CLASS_COUNT];

/* In bytes, without headers. Kernels' scratch looks at the first two without the GIL. */
static _Atomic int64_t kept, limit = (int64_t)256 << 20; /* a sixteenth of WebAssembly's memory; others are asked */
static int64_t reserved, peak;                           /* of the system, kept or not; the most that was in use */
static int64_t asked, made, retried; /* counts of blocks: all, those from the system, and of these the ones that the
                                        system had only once nothing was kept */
static int limit_is_known;

static int64_t get(const _Atomic int64_t *bytes) { return atomic_load_explicit(bytes, memory_order_relaxed); }
static void set(_Atomic int64_t *bytes, int64_t to) { atomic_store_explicit(bytes, to, memory_order_relaxed); }

int64_t lw_cache_room(void) { return get(&limit) - get(&kept) - lw_scratch_kept(); }

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

static void give_back(lw_storage *storage) {
    reserved -= (int64_t)storage->bytes;
    lw_block_free(storage, HEADER + storage->bytes);
}

/* A block of a class that has some. */
static lw_storage *take(int index) {
    lw_storage *storage = pool[index].first;
    pool[index].first = storage->owner;
    set(&kept, get(&kept) - (int64_t)storage->bytes);
    return storage;
}

/* Gives back blocks of other classes than `index`, those first that were out of use longest, until there is room. */
static __attribute__((noinline)) int make_room(int64_t bytes, int index) {
    while (lw_cache_room() < bytes) {
        int oldest = -1;
        for (int i = 0; i < CLASS_COUNT; i++) {
            if (pool[i].first && i != index && (oldest < 0 || pool[i].last_used < pool[oldest].last_used)) {
                oldest = i;
            }
        }
        if (oldest < 0) {
            return 0;
        }
        give_back(take(oldest));
    }
    return 1;
}

void lw_storage_trim(void) {
    make_room(INT64_MAX, -1);
    lw_scratch_trim();
}

#if defined(__wasm__)

static int know_limit(void) { return 0; }

#else

/* Looking at the machine takes time that importing the package and small work do not need to spend. */
static int know_limit(void) {
    if (limit_is_known) {
        return 0;
    }
    PyObject *hook = lw_hook("cache_limit");
    PyObject *answer = hook ? PyObject_CallObject(hook, NULL) : NULL;
    long long bytes = answer ? PyLong_AsLongLong(answer) : -1;
    Py_XDECREF(answer);
    if (bytes < 0) {
        return -1;
    }
    if (!limit_is_known) { /* another thread may have set it meanwhile */
        limit_is_known = 1;
        set(&limit, bytes);
    }
    return 0;
}

#endif

/* Kept out of lw_storage_new(), which most calls go through. */
static __attribute__((noinline)) lw_storage *new_block(const char *operation, int64_t bytes, int index,
                                                       size_t class_bytes) {
    if (class_bytes >= LARGE && know_limit() < 0) {
        return NULL;
    }
    lw_storage *storage = lw_block_allocate(HEADER + class_bytes);
    if (!storage && get(&kept) + lw_scratch_kept()) {
        lw_storage_trim();
        storage = lw_block_allocate(HEADER + class_bytes);
        retried += storage != NULL;
    }
    if (!storage) {
        lw_raise_no_memory(operation, bytes);
        return NULL;
    }
    reserved += (int64_t)class_bytes;
    made++;
    *storage = (lw_storage){.data = (char *)storage + HEADER, .bytes = class_bytes, .size_class = index};
    return storage;
}

lw_storage *lw_storage_new(const char *operation, int64_t bytes) {
    if (bytes > PTRDIFF_MAX / 2) { /* the class is larger, and a header comes on top */
        lw_raise_no_memory(operation, bytes);
        return NULL;
    }
    size_t class_bytes;
    int index = size_class((size_t)bytes, &class_bytes);
    lw_storage *storage = pool[index].first ? take(index) : new_block(operation, bytes, index, class_bytes);
    if (!storage) {
        return NULL;
    }
    asked++;
    int64_t allocated = reserved - get(&kept);
    peak = allocated > peak ? allocated : peak;
    storage->references = 1;
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
    int index = storage->size_class;
    if (index < 0) {
        storage->release(storage);
        free(storage);
        return;
    }
    int64_t bytes = (int64_t)storage->bytes;
    if (lw_cache_room() < bytes && (bytes > get(&limit) || !make_room(bytes, index))) {
        give_back(storage);
        return;
    }
    set(&kept, get(&kept) + bytes);
    storage->owner = pool[index].first;
    pool[index].first = storage;
    pool[index].last_used = asked;
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

/* lanewise/memory.py has checked the number. */
static PyObject *set_cache_limit(PyObject *module, PyObject *bytes) {
    (void)module;
    int64_t wanted = PyLong_AsLongLong(bytes);
    if (PyErr_Occurred()) {
        return NULL;
    }
    limit_is_known = 1;
    set(&limit, wanted);
    if (!make_room(0, -1)) {
        lw_scratch_trim();
    }
    return none();
}

static PyObject *reset_peak_memory_stats(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    peak = reserved - get(&kept);
    return none();
}

/* memory_stats(): the numbers that lanewise/memory.py names. */
static PyObject *memory_stats(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    if (know_limit() < 0) {
        return NULL;
    }
    int64_t allocated = reserved - get(&kept), cached = get(&kept) + lw_scratch_kept();
    int64_t numbers[] = {allocated, peak, cached, allocated + cached, get(&limit), asked, asked - made, retried};
    return lw_int_tuple(sizeof numbers / sizeof *numbers, numbers);
}

PyMethodDef lw_storage_functions[] = {
    {"empty_cache", empty_cache, METH_NOARGS, NULL},
    {"set_cache_limit", set_cache_limit, METH_O, NULL},
    {"reset_peak_memory_stats", reset_peak_memory_stats, METH_NOARGS, NULL},
    {"memory_stats", memory_stats, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
