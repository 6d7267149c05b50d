/* Storages: the memory of tensors. */
#pragma once

#include "pyabi.h"
#include <stddef.h>
#include <stdint.h>

/* A block of memory that one tensor uses or several share. The GIL guards the reference count. */
typedef struct lw_storage lw_storage;
struct lw_storage {
    Py_ssize_t references;
    char *data; /* address in CPU memory; NULL if `owner` is a buffer of a GPU */
    size_t bytes;
    int read_only;
    int size_class;                       /* size class in the cache of storage.c, or -1 for borrowed memory */
    void (*release)(lw_storage *storage); /* returns borrowed memory to its owner */
    void *owner; /* the object that `release` releases; in a list of the cache, the next block */
};

/* Returns a storage of at least `bytes`, 64-byte aligned, from the cache if possible. Returns NULL with
 * OutOfMemoryError set if memory runs out. */
lw_storage *lw_storage_new(int64_t bytes);
lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *));
void lw_storage_release(lw_storage *storage);

/* The cache of freed memory. lw_storage_trim() frees all of it. */
void lw_storage_trim(void);
