/* Storages: the memory of tensors. */
#pragma once

#include "device.h"
#include "pyabi.h"
#include "visibility.h"
#include <stddef.h>

/* A block of memory that one tensor uses or several share. The GIL guards the reference count. */
typedef struct lw_storage lw_storage;
struct lw_storage {
    Py_ssize_t references;
    char *data;
    lw_device *device; /* to which the memory belongs; NULL for the host */
    size_t bytes;
    int read_only;
    int size_class;                       /* size class in the cache of storage.c, or -1 for borrowed memory */
    void (*release)(lw_storage *storage); /* returns borrowed memory to its owner */
    void *owner;     /* the object that `release` releases; in a list of the cache, the next block */
    int64_t written; /* number of the last launch of the device that writes here, or 0 */
};

/* Returns a storage of at least `bytes`, 64-byte aligned, from the cache if possible. Returns NULL with
 * OutOfMemoryError set if memory runs out, or with DeviceError set. */
lw_storage *lw_storage_new(int64_t bytes, lw_device *device);
lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *));
void lw_storage_release(lw_storage *storage);

/* Returns 0 if a device has done what it was to do, else -1 with an error set. */
int lw_check_device(const lw_device *device, lw_status status);

/* The caches of freed memory, one for the host and one for each device. lw_storage_trim() frees all of one. */
lw_pool *lw_pool_new(int64_t limit);
void lw_storage_trim(lw_device *device);
/* How many copies went from the host to devices, and back; how many dispatches were recorded, and submitted at once. */
LW_HIDDEN int64_t lw_uploads, lw_readbacks, lw_dispatches, lw_submissions;
