/* The C ABI between a host (the Python extension, a test, any program that calls kernels) and a kernel library. A
 * library exports one data symbol, `lanewise_kernels`. Its type, lw_library, is defined in lanewise_table.h, which is
 * generated from the contracts, as is lanewise_facts.h, with constants. A kernel receives everything through its five
 * parameters: it calls nothing of the C library, allocates only through its context, and has no state. */
#pragma once

#include "lanewise_facts.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lw_status {
    LW_OK,
    LW_INTERRUPTED, /* the host asked to stop; outputs are incomplete */
    LW_NO_MEMORY,   /* lw_context.allocate is NULL or returned NULL */
    LW_BAD_INDEX,   /* an index is out of range; lw_context.bad_index holds it */
    LW_DEVICE_ERROR /* a GPU reported a fault; lw_context.message says which */
} lw_status;

/* A parameter of an operation: `f` for a float, `i` for an int, a bool or a choice (its index in the list of
 * choices). */
typedef union lw_scalar {
    double f;
    int64_t i;
} lw_scalar;

/* Of at most so many bytes, stored integers are reduced in their own lanes. Pages, which download the code, have it for
 * pictures alone. */
#if defined __wasm__
#define LW_OWN_BYTES 1
#else
#define LW_OWN_BYTES 2
#endif

typedef struct lw_context lw_context;
typedef lw_status lw_task(lw_context *context, int64_t index, const void *argument);

/* Services of the host for one call of a kernel. Each function may be NULL: without `run`, tasks run in order on the
 * calling thread; without `allocate`, scratch memory is not available. */
struct lw_context {
    /* Runs task(context, 0 .. count-1, argument), in any order, on any threads. Stops early when a task does not return
     * LW_OK or the user interrupts, and returns LW_INTERRUPTED or the status of a task that failed. A task may get a
     * different context from the caller's, and its `run` may be NULL. Tasks may allocate and release on any thread. A
     * kernel with long serial work divides it among several calls of `run`, so that the host can interrupt it. */
    lw_status (*run)(lw_context *context, int64_t count, lw_task *task, const void *argument);
    void *(*allocate)(lw_context *context, size_t bytes); /* returns memory aligned to 64 bytes, or NULL */
    void (*release)(lw_context *context, void *memory);
    void *host;         /* for the host's own use */
    void *stream;       /* the device's stream; NULL on a CPU */
    int64_t bad_index;  /* the index that is out of range, if the status is LW_BAD_INDEX */
    char message[128];  /* what the device reported, if the status is LW_DEVICE_ERROR */
    size_t cache_bytes; /* size of the last-level cache; larger results use streaming stores. 0 disables them */
    int64_t threads;    /* how many threads may run tasks at once; 0 counts as 1 */
    int64_t tasks;      /* how many tasks of about equal work the call should be divided into; 0 counts as 1 */
    size_t l2_bytes;    /* size of the L2 cache of a core; block sizes depend on it and on cache_bytes. 0 if unknown */
};

/* Where the elements of each operand are in memory. Inputs are numbered before outputs. Strides are in bytes, may be
 * negative, and are 0 along dimensions where an operand is broadcast. The host merges adjacent dimensions where the
 * strides of all operands allow it, but never a reduced dimension with one that is kept. So an elementwise layout of
 * contiguous operands has one dimension. Row-major: the last dimension is the innermost. An elementwise kernel, or one
 * of casts, on host memory converts operands that are stored in another dtype than it computes in. */
typedef struct lw_layout {
    int32_t ndim;
    int32_t inner; /* number of trailing dimensions that are reduced; 1 for row kernels, 0 for elementwise kernels */
    int64_t shape[LW_MAX_NDIM];
    int64_t strides[LW_MAX_OPERANDS][LW_MAX_NDIM];
    uint32_t converted;             /* bit i is set if operand i is stored in dtypes[i], and has to be converted */
    int8_t dtypes[LW_MAX_OPERANDS]; /* lw_dtype */
} lw_layout;

/* C[m, n] = A[m, k] B[k, n] for every index of the batch. Operands: A, B, the bias if the operation has one (row stride
 * 0), C. For an eigendecomposition: A[n, n], eigenvalues (row stride 0), eigenvectors. */
typedef struct lw_matrix_layout {
    lw_layout batch; /* with inner = 0 */
    int64_t m, n, k;
    int64_t row_strides[LW_MAX_OPERANDS];
    int64_t column_strides[LW_MAX_OPERANDS];
} lw_matrix_layout;

/* Attention for every index of the batch, which includes heads. Query i sees keys i + first to i + last, as far as they
 * exist. Operands: query (queries, depth), key (keys, depth), value (keys, value_depth), mask (queries, keys), which is
 * added to the scores, and the result. Along batch dimensions where heads share keys and values, the strides of key
 * and value are 0. Requires lw_context.allocate. */
typedef struct lw_attention_layout {
    lw_layout batch; /* with inner = 0 */
    int64_t queries, keys, depth, value_depth;
    int64_t first, last;
    double scale; /* multiplies Q K^T before the mask is added */
    int64_t row_strides[LW_MAX_OPERANDS];
    int64_t column_strides[LW_MAX_OPERANDS];
} lw_attention_layout;

/* Windows over images, for convolution and pooling. Images have dimensions NCHW and weights OIHW; the strides allow any
 * order in memory. Operands: x, then weight and bias if the operation has them, then the result. Arrays of two elements
 * are (height, width). */
typedef struct lw_window_layout {
    int64_t batch, in_channels, out_channels, groups;
    int64_t in_size[2], kernel_size[2], out_size[2];
    int64_t stride[2], padding[2], dilation[2]; /* padding: before the first row and column */
    int64_t strides[LW_MAX_OPERANDS][4];        /* in bytes; of a bias, only strides[operand][0] is used */
} lw_window_layout;

/* A kernel. The type of the layout depends on the operation's kind (contracts/kinds.yaml). If an optional input is not
 * given, its pointer is NULL or points to the contract's default. */
typedef lw_status lw_kernel(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                            const lw_scalar *parameters);

/* Functions for the memory of a device. All are NULL if the kernels work on host memory. */
typedef struct lw_memory {
    void *(*allocate)(lw_context *context, size_t bytes);
    void (*release)(lw_context *context, void *memory);
    lw_status (*upload)(lw_context *context, void *device, const void *host, size_t bytes);
    lw_status (*download)(lw_context *context, void *host, const void *device, size_t bytes);
    lw_status (*synchronize)(lw_context *context);
} lw_memory;

/* The first fields of every library. Their layout is the same in every version of the ABI. Check abi_version before
 * reading the fields that follow this struct. */
typedef struct lw_library_head {
    uint32_t abi_version;
    uint32_t kernel_count;
    uint64_t signature; /* hash of the kernels' names, kinds, inputs, parameters and dtypes, in table order */
    uint64_t cpu_features;
    const char *name; /* the backend, as in lanewise.Backend but in lower case */
    lw_memory memory;
} lw_library_head;

#ifdef __cplusplus
}
#endif
