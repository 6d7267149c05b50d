/* Devices: memory outside the CPU's, and kernels that run on it, asynchronously. A device is the six functions of
 * lw_device. They are called with the GIL; only `read` may release it. The host has none: its device is NULL. */
#pragma once

#include "lanewise.h"
#include <stdint.h>

typedef struct lw_plan lw_plan;
typedef struct lw_pool lw_pool;
typedef struct lw_device lw_device;
typedef struct lw_flight lw_flight;
typedef struct lw_chain lw_chain;
typedef struct lw_storage lw_storage;

/* What a device has been given to do; lanewise/backends/memory.py names these counters in the same order. */
typedef enum lw_counter {
    LW_UPLOADS,   /* copies from the host */
    LW_READBACKS, /* copies to the host */
    LW_DISPATCHES,
    LW_SUBMISSIONS,     /* batches of dispatches */
    LW_CHAINS_COMPILED, /* kernels made of the nodes of a chain */
    LW_CHAINS_RUN,      /* by such kernels */
    LW_CHAINS_KEPT,     /* such kernels that the device has now */
    LW_COUNTER_COUNT
} lw_counter;

/* A status of launches only, which is why core's lw_status lacks it: the device cannot run this launch, but has not
 * failed, so it may run others. */
enum { LW_REFUSED = LW_DEVICE_ERROR + 1 };

/* What goes wrong is reported by a status: LW_NO_MEMORY, LW_DEVICE_ERROR or LW_REFUSED, with a message in
 * lw_device.message, or LW_INTERRUPTED with an error of Python set. After a loss, is_lost is set, and every function
 * but `release` returns LW_DEVICE_ERROR. */
struct lw_device {
    const char *name; /* of the backend */

    /* Sets `data` to the address of new memory. Host code computes with such addresses but never follows them; they may
     * be those of the GPU, or stand for a buffer and an offset, in a range where the host has no memory. */
    lw_status (*allocate)(lw_device *device, size_t bytes, char **data);
    void (*release)(lw_device *device, char *data, size_t bytes); /* earlier launches may still use it */
    /* Copy between the host and the device, in the order of the launches. `to` is the start of a block for write(),
     * which may overwrite up to 3 bytes behind its end. `read` waits until it is done. */
    lw_status (*write)(lw_device *device, char *to, const void *from, size_t bytes);
    lw_status (*read)(lw_device *device, void *to, const char *from, size_t bytes);
    /* Runs the kernel of a plan after all earlier launches and writes. Inputs are in the plan's operands, each an
     * address or a number, for which lw_is_number() is true. Returns at once; the plan does not outlive the call. If
     * the launch fails later, the device calls lw_fail_launch() with its id. */
    lw_status (*launch)(lw_device *device, const lw_plan *plan, char *const *outputs, int64_t launch_id);
    lw_status (*flush)(lw_device *device); /* starts everything that has been launched */
    /* Optional, for devices that run a chain (chain.h) as one kernel. `fuse` sets lw_chain.kernel if there is a kernel
     * for the needed nodes of a chain, and keeps it until the chain leaves the list `ending`. Returns -1 with an error
     * set after Ctrl-C. `launch_chain` runs the kernel, as `launch` does. */
    int (*fuse)(lw_device *device, lw_chain *chain);
    lw_status (*launch_chain)(lw_device *device, const lw_chain *chain, int64_t launch_id);

    int64_t cache_limit;    /* bytes of freed memory that storage.c keeps */
    size_t max_block;       /* bytes of the largest block; 0 without a limit */
    const uint8_t *kernels; /* whether the device has each kernel of lw_kernels; NULL if it has all */
    int reads_stored;       /* whether reductions and rows convert elements of 1 and 2 bytes to int32 or float32. Then
                             * cumulative_sum of a row, with a result that is longer by 1, selects (gather.c) */
    int is_lost;
    char message[400];
    int64_t counters[LW_COUNTER_COUNT]; /* those of an earlier device of the backend included */
    /* for storage.c, device.c and chain.c */
    lw_pool *pool;
    lw_flight *flight;
    lw_chain *chain;  /* that waits, or NULL */
    lw_chain *ending; /* list of chains that are being launched */
    /* Ends the chain. Then the storage, unless it is NULL, is not pending. Returns -1 with an error set on failure. */
    int (*settle)(lw_device *device, const lw_storage *storage);
    void (*abandon)(lw_device *device); /* drops the chain, unless a result is in use */
};
