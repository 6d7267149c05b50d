/* Elementwise kernels for any layout, built on loops over contiguous arrays.
 *
 * For each kernel the generator writes a body, which is one vector loop over contiguous, possibly unaligned arrays, and
 * an `elementwise` constant that describes it. elementwise.c turns a layout into calls of that body. Operands that are
 * contiguous, or have long contiguous rows, are passed in place. An input that is a single element, or has one for each
 * long row, is held: the body does not advance in it. Others are copied to small buffers, a chunk of elements at a
 * time, and a strided result is computed in a buffer and copied out. Operands that are stored in another dtype are
 * converted on the way, by the bodies of casts. The output may be the memory of an input with the same
 * strides: no element is read after it is written. */
#pragma once

#include "layout/layout_iterator.h"
#include "layout/stream.h"
#include "simd/simd.h"

enum {
    SIMPLE_COUNT = 1 << 15, /* at most this many elements are computed by a single call of the body */
    /* Vectors per iteration in a short body. With one vector, adding arrays in L1 would take 1.2 times as long.
     * WebAssembly uses one vector, to keep the download small. */
    BODY_UNROLL = SIMD_PARTIAL && VF32_LANES > 1 ? 4 : 1,
    BODY_HOLDS = SIMD_PARTIAL, /* bodies with several inputs can hold some of them; WebAssembly's are kept small */
    HELD_BYTES = BODY_UNROLL * sizeof(vu64) /* that a body reads of an input that it holds */
};

/* If bit i of `held` is set, input i is a single element, repeated in the first HELD_BYTES of its array. */
typedef void elementwise_body(int64_t count, uint32_t held, const void *const *inputs, void *output,
                              const lw_scalar *parameters);

/* How far a body advances in an input for each `step` elements of the result. */
#define BODY_STEP(input, step) (BODY_HOLDS && held >> (input) & 1 ? 0 : (step))

typedef struct elementwise elementwise;
struct elementwise {
    elementwise_body *body;
    int32_t operands; /* number of inputs, plus 1 for the output */
    int32_t size[LW_MAX_OPERANDS];
    int8_t dtype[LW_MAX_OPERANDS]; /* lw_dtype; -1 if the kernel moves elements of any dtype of that size */
    int8_t lanes;                  /* elements of a vector of the body */
    int8_t is_short;               /* the body is a few instructions, so with large arrays DRAM is the bottleneck */
    /* NULL, or by dtype the kernel for operands that are all stored in it; NULL if they have to be converted */
    const elementwise *const *own;
};

/* The kernels of casts, by the dtype that they read and the one that they write; NULL if both are the same.
 * Hidden in the declaration, too: emcc exports what a unit reads of another, unless that is known to be hidden. */
extern __attribute__((visibility("hidden"))) const elementwise *const elementwise_casts[LW_DTYPE_COUNT][LW_DTYPE_COUNT];

/* Runs the body for the last elements, which do not fill a vector, through zero-padded buffers. */
void elementwise_tail(const elementwise *kernel, int64_t whole, int64_t tail, const void *const *inputs, void *output,
                      const lw_scalar *parameters);

/* Runs the body for all elements of contiguous arrays, and of inputs that it holds. */
INLINE void run_body(const elementwise *kernel, int64_t count, uint32_t held, const void *const *inputs, void *output,
                     const lw_scalar *parameters) {
    int64_t tail = SIMD_PARTIAL ? 0 : count & (kernel->lanes - 1), whole = count - tail;
    if (whole) {
        kernel->body(whole, held, inputs, output, parameters);
    }
    if (tail) {
        PATH_IF(!SIMD_PARTIAL, "elementwise: tail in a padded register");
        elementwise_tail(kernel, whole, tail, inputs, output, parameters);
    }
}

/* Runs the body for part of a result that is larger than the caches: streams it by the chunks of elementwise_any(). */
void elementwise_streamed(const elementwise *kernel, int64_t count, const void *const *inputs, char *output,
                          const lw_scalar *parameters);

/* Computes a layout by as many calls of the body as it takes. */
lw_status elementwise_any(const elementwise *kernel, lw_context *context, const lw_layout *layout,
                          const void *const *inputs, void *const *outputs, const lw_scalar *parameters);

/* Returns whether a single call of the body is enough if nothing has to be converted: the layout has one dimension,
 * contiguous in all operands, and the call is too small for several tasks. */
INLINE int is_simple(const elementwise *kernel, const lw_context *context, const lw_layout *layout) {
    if (layout->ndim != 1 || layout->shape[0] > SIMPLE_COUNT || context->tasks > 1) {
        return 0;
    }
    int64_t gaps = 0;
    for (int32_t o = 0; o < kernel->operands; o++) {
        gaps |= layout->strides[o][0] ^ kernel->size[o];
    }
    return gaps == 0;
}

/* Does it by this call. */
INLINE lw_status run_simple(const elementwise *kernel, const lw_context *context, const lw_layout *layout,
                            const void *const *inputs, void *output, const lw_scalar *parameters) {
    if (kernel->is_short && stream_pays(context, layout->shape[0] * kernel->size[kernel->operands - 1])) {
        elementwise_streamed(kernel, layout->shape[0], inputs, output, parameters);
        return LW_OK;
    }
    PATH("elementwise: one call");
    run_body(kernel, layout->shape[0], 0, inputs, output, parameters);
    return LW_OK;
}

INLINE lw_status elementwise_run(const elementwise *kernel, lw_context *context, const lw_layout *layout,
                                 const void *const *inputs, void *const *outputs, const lw_scalar *parameters) {
    return !layout->converted && is_simple(kernel, context, layout)
               ? run_simple(kernel, context, layout, inputs, outputs[0], parameters)
               : elementwise_any(kernel, context, layout, inputs, outputs, parameters);
}
