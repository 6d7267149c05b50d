/* Chains: elementwise launches that wait, on one shape whose axes have one order in memory, so that a device can run
 * them as one kernel. A launch becomes a node, whose result is a pending storage. A chain ends when one of its results
 * is needed, when what it reads is about to be written, or when a launch does not fit in. Then the device runs it as
 * one kernel if it has one, which writes only the results that are still in use. Otherwise, the nodes are launched one
 * by one. The host has a chain, too, for results that are too large for its caches (host_chain.c). */
#pragma once

#include "plan/plan.h"

enum {
    LW_CHAIN_NODES = 32,
    LW_CHAIN_BUFFERS = 8, /* arrays that the nodes read, and results that are still in use */
    LW_CHAIN_NUMBERS = 32 /* inputs that are numbers, and parameters */
};

typedef struct lw_node_input {
    int8_t node;   /* the node that computes it, or -1 */
    int8_t buffer; /* its index in lw_chain.buffers, or -1; without either, it is a number */
    int8_t dtype;
    lw_scalar number;
} lw_node_input;

typedef struct lw_node {
    const lw_operation *operation;
    lw_placement placement;
    int16_t kernel;
    int8_t dtype;       /* of the result */
    uint8_t is_in_use;  /* whether a tensor has the result, when the chain ends */
    uint8_t is_needed;  /* whether the result or that of a later node depends on it and is in use */
    lw_storage *result; /* a reference */
    lw_storage *block;  /* while the chain runs as one kernel: the memory that the result will have, if it is in use */
    lw_node_input inputs[LW_MAX_INPUTS];
    lw_scalar parameters[LW_MAX_PARAMETERS];
    lw_layout layout; /* for a launch of this node alone */
} lw_node;

/* An array that nodes read. */
typedef struct lw_chain_buffer {
    lw_storage *storage; /* a reference */
    const char *data;
    int8_t dtype;
    int64_t strides[LW_MAX_NDIM]; /* in bytes, along the dimensions of the chain; 0 where elements repeat */
} lw_chain_buffer;

struct lw_chain {
    lw_chain *next;          /* in the list of chains that are being launched */
    PyThreadState *launcher; /* the thread that launches it */
    uint32_t kernel;         /* that runs all of it, for lw_device.launch_chain; 0 while there is none */
    int node_count, needed_count, buffer_count, number_count;
    int ndim;
    int order[LW_MAX_NDIM];           /* the results' axes in the order of memory, which are the chain's dimensions */
    int64_t size, shape[LW_MAX_NDIM]; /* of all results */
    lw_node nodes[LW_CHAIN_NODES];
    lw_chain_buffer buffers[LW_CHAIN_BUFFERS];
};

/* The least bytes of a result for which launches on the host wait; INT64_MAX if none does. */
LW_HIDDEN int64_t lw_chain_bytes;
/* Returns whether a plan can become a node, so that its result may be a pending storage. */
int lw_can_chain(const lw_plan *plan);
/* Called before something is written to a storage, or is given to others who may: ends the chains of the host that
 * read it, if there are any. Returns -1 with an error set after Ctrl-C. */
int lw_settle_readers(const lw_storage *storage);
static inline int lw_has_readers(void) { return lw_host_device.chain || lw_host_device.ending; }
/* Lets other libraries have the memory of a tensor on the host. Returns -1 with an error set on failure. */
int lw_share(lw_tensor *tensor);
/* Appends a plan to the chain of its device, or to a new one. `result` has a pending storage, which no other tensor
 * has. Returns -1 with an error set on failure. */
int lw_append_to_chain(lw_plan *plan, lw_tensor *result);
