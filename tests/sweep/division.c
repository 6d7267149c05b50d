/* A kernel library whose only kernel, which replaces `negative` of int32, reports how its call is to be divided: it
 * writes the numbers of threads and tasks to the first two elements of the result. */
#include "lanewise.h"
#include "lanewise_table.h"

static lw_status report(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                        const lw_scalar *parameters) {
    (void)layout, (void)inputs, (void)parameters;
    int32_t *out = outputs[0];
    out[0] = (int32_t)context->threads;
    out[1] = (int32_t)context->tasks;
    return LW_OK;
}

const lw_library lanewise_kernels = {
    {LW_ABI_VERSION, LW_KERNEL_COUNT, LW_SIGNATURE, 0, "scalar", {0}},
    {.negative_int32 = report},
};
