/* Storages: the memory of tensors. */
#pragma once

#include "device/device.h"
#include "pyabi.h"
#include "visibility.h"
#include <stddef.h>

/* A block of memory that one tensor uses or several share. The GIL guards the reference count. */
struct lw_storage {
    Py_ssize_t references;
    char *data;
    lw_device *device; /* to which the memory belongs; NULL for the host */
    size_t bytes;
    uint8_t read_only;
    uint8_t is_shared;                    /* whether others may know the address, and write there unseen */
    int size_class;                       /* in the cache of storage.c; LW_BORROWED or LW_PENDING */
    void (*release)(lw_storage *storage); /* returns borrowed memory to its owner */
    void *owner;     /* the object that `release` releases; in a list of the cache, the next block; if the storage is
                        pending, its tensor */
    int64_t written; /* id of the last launch of the device that writes here, or 0 */
};

/* Returns a storage of at least `bytes`, 64-byte aligned, from the cache if possible. Returns NULL with
 * OutOfMemoryError set if memory runs out, or with DeviceError set. */
lw_storage *lw_storage_new(int64_t bytes, lw_device *device);
lw_storage *lw_storage_borrow(void *data, size_t bytes, int read_only, void *owner, void (*release)(lw_storage *));
void lw_storage_release(lw_storage *storage);

enum { LW_BORROWED = -1, LW_PENDING = -2 };

/* Stands for the host where chains need a device: its memory has none. */
LW_HIDDEN lw_device lw_host_device;
static inline lw_device *lw_launcher(lw_device *device) { return device ? device : &lw_host_device; }

/* Returns a storage without memory, for a result that a launch of the chain will compute. Until then, `data` is the
 * address of the storage itself, an address that no memory of the device has. */
lw_storage *lw_storage_defer(int64_t bytes, lw_device *device);
/* Gives a pending storage the memory of `block`, a new storage, and takes over the caller's reference to it. */
void lw_storage_adopt(lw_storage *storage, lw_storage *block);
static inline int lw_is_pending(const lw_storage *storage) { return storage->size_class == LW_PENDING; }
/* Ends the chain that waits on a device, if there is one. Returns -1 with an error set after Ctrl-C. */
static inline int lw_end_chain(lw_device *device) { return device->chain ? device->settle(device, NULL) : 0; }
/* Ends the chain that computes a storage, if it is pending. Returns -1 with an error set if it cannot be computed. */
static inline int lw_settle(lw_storage *storage) {
    lw_device *device = lw_launcher(storage->device);
    return lw_is_pending(storage) ? device->settle(device, storage) : 0;
}

/* Returns 0 if a device has done what it was to do, else -1 with an error set. */
int lw_check_device(const lw_device *device, lw_status status);

/* The caches of freed memory, one for the host and one for each device. lw_storage_trim() frees all of one. */
lw_pool *lw_pool_new(int64_t limit);
void lw_storage_trim(lw_device *device);
