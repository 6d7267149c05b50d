/* Records dispatches of WGSL kernels, and hands them in batches to a player: the Python object that calls WebGPU
 * (lanewise/webgpu/desktop.py). */
#pragma once

#include "device/device.h"
#include "memory/addresses.h"
#include "pyabi.h"
#include "visibility.h"

enum {
    LW_BATCH = 64,           /* number of dispatches that are handed over at once */
    LW_PARAMETER_WORDS = 64, /* of a dispatch: 256 bytes, the largest alignment that an adapter may require */
    LW_MAX_BINDINGS = 8
};

/* The number of the first kernel of a chain, which the table of kernels does not have. Blocks have smaller numbers. */
#define LW_FIRST_CHAIN (1u << 31)

/* The entry points of WGSL modules; lanewise/webgpu/shaders.py has their names in the same order. */
typedef enum lw_entry {
    LW_ENTRY_MAIN,
    LW_ENTRY_BLOCKS,
    LW_ENTRY_COMBINE,
    LW_ENTRY_CLEAR,
    LW_ENTRY_CLAIM,
    LW_ENTRY_VECTORS,
    LW_ENTRY_TILES,
    LW_ENTRY_DOTS,
    LW_ENTRY_SUMS,
    LW_ENTRY_COLUMNS,
    LW_ENTRY_MATRIX_TILES /* two for each of lw_tiles: for whole products, and for parts */
} lw_entry;

/* Where the elements of an input are: two bits of lw_sources in webgpu/kinds/layout.wgsl. */
typedef enum lw_source_of_input { LW_FROM_BUFFER, LW_FROM_NUMBER, LW_FROM_RESULT, LW_FROM_NOWHERE } lw_source_of_input;

/* One dispatch. The player reads this struct as 16 words. The first four select a pipeline. */
typedef struct lw_dispatch {
    uint32_t kernel; /* index in lw_kernels */
    uint32_t entry;
    uint32_t sources; /* lw_sources */
    uint32_t variant; /* the override of VARIANTS in shaders.py that the kernel has */
    uint32_t groups[3];
    uint32_t unused;
    /* numbers of the blocks in the order of the bindings, or 0; lw_record() fills them in */
    uint32_t buffers[LW_MAX_BINDINGS];
} lw_dispatch;

/* Limits of a device; 0 is none. */
typedef struct lw_limits {
    uint32_t groups; /* along each dimension of a dispatch */
    size_t buffer;   /* bytes of a buffer */
    size_t budget;   /* bytes of all buffers */
    int64_t cache;   /* bytes of freed buffers that are kept */
    int64_t rounds;  /* of all loops of an invocation together, from the player's max_rounds; 0 without a limit */
    int64_t tiles;   /* whether kernels for tiles may run, from the player's compiles_tiles, 1 if it has none */
    int64_t workgroup_bytes; /* memory of a workgroup, from max_workgroup_bytes; without, what WebGPU guarantees */
} lw_limits;

typedef struct lw_known_chain lw_known_chain;

typedef struct lw_recorder {
    lw_device device; /* must be first; its functions cast */
    lw_limits limits;
    PyObject *player, *lock;
    lw_addresses addresses;
    size_t allocated; /* bytes of all buffers */
    int64_t parts;    /* blocks that are parts of a storage, because the device has no buffers of that size */
    int64_t batch;    /* number of the batch that is being recorded */
    int count;        /* dispatches in it */
    double work;      /* nanoseconds that they are expected to take on a thread of the CPU */
    lw_dispatch dispatches[LW_BATCH];
    uint32_t parameters[LW_BATCH][LW_PARAMETER_WORDS];
    int64_t launch_ids[LW_BATCH]; /* of the launch that each dispatch belongs to */
    lw_known_chain *chains;       /* the table of webgpu_chain.c, NULL if chains are not run as one kernel */
    int64_t fuse_count;           /* how often a chain looked for its kernel */
    uint32_t chain_count;         /* kernels of chains that have had a number */
    uint32_t *released;           /* numbers of the blocks and kernels to destroy after this batch */
    size_t released_count, released_capacity;
} lw_recorder;

/* Takes over no references: adds its own to the player. Returns NULL with an error set on failure. */
lw_recorder *lw_recorder_new(PyObject *player, const lw_limits *limits);
void lw_recorder_free(lw_recorder *recorder); /* before it has been used */

/* Five functions of lw_device. */
LW_HIDDEN lw_status lw_recorder_allocate(lw_device *device, size_t bytes, char **data);
LW_HIDDEN void lw_recorder_release(lw_device *device, char *data, size_t bytes);
LW_HIDDEN lw_status lw_recorder_write(lw_device *device, char *to, const void *from, size_t bytes);
LW_HIDDEN lw_status lw_recorder_read(lw_device *device, void *to, const char *from, size_t bytes);
LW_HIDDEN lw_status lw_recorder_flush(lw_device *device);

/* Asks the player for the kernel of a chain, described by a key (webgpu_chain.c). Returns 1 if it can be played from
 * now on, under this number, 0 if it will be, -1 if it cannot be compiled, or -2 with an error set after Ctrl-C. */
int lw_recorder_compile(lw_recorder *recorder, uint32_t number, const uint8_t *key, size_t length);

/* Destroys a block, or the kernel of a chain, once the dispatches recorded so far have been submitted. */
void lw_destroy_later(lw_recorder *recorder, uint32_t number);

/* Adds the time that a recorded launch is expected to take on one thread of the CPU. Submits the batch if its launches
 * take long enough together, so that the GPU does not idle until the batch is full. */
lw_status lw_add_work(lw_recorder *recorder, double nanoseconds);

/* Records a dispatch for a launch. `bindings` has an address in each block that is bound, or NULL. Submits the batch
 * when it is full. */
lw_status lw_record(lw_recorder *recorder, const lw_dispatch *dispatch, const char *const *bindings,
                    const uint32_t *parameters, int64_t launch_id);
