/* Launches on tensors that are larger than the device's largest buffer, and so are in several blocks with consecutive
 * addresses. */
#include "lanewise_operations.h"
#include "webgpu/webgpu_launch.h"
#include <stdio.h>

enum { MAX_PART = 1 << 30 }; /* elements of a part */

static int crosses(const lw_webgpu_launch *launch, const char *data, int ndim, const int64_t *shape,
                   const int64_t *strides, int64_t item) {
    const char *low, *high;
    lw_memory_range(data, ndim, shape, strides, item, &low, &high);
    const lw_block *block = lw_find_block(&launch->recorder->addresses, low);
    return high > block->data + block->bytes;
}

int lw_webgpu_crosses_blocks(const lw_webgpu_launch *launch) {
    const lw_plan *plan = launch->plan;
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        if (operand->data && operand->size > 0 && !lw_is_number(operand) &&
            crosses(launch, operand->data, operand->ndim, operand->shape, operand->strides,
                    lw_item_size(operand->dtype))) {
            return 1;
        }
    }
    for (int i = 0; i < plan->result_count; i++) {
        const lw_result *result = &plan->results[i];
        if (crosses(launch, launch->outputs[i], result->ndim, result->shape, result->strides,
                    lw_item_size(plan->dtype))) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether each element of the result depends only on the elements at its position, and all operands and the
 * result are contiguous. */
static int can_be_split(const lw_plan *plan) {
    int kind = plan->operation->kind, inputs = plan->operation->input_count;
    int fits =
        kind == LW_KIND_ELEMENTWISE || kind == LW_KIND_CAST || plan->operation == &lw_operations[LW_OPERATION_full];
    fits = fits && plan->layout.ndim == 1;
    for (int i = 0; i <= inputs && fits; i++) {
        int64_t stride = plan->layout.strides[i][0];
        fits =
            (i < inputs && stride == 0) || stride == lw_item_size(i < inputs ? plan->operands[i].dtype : plan->dtype);
    }
    return fits;
}

/* Returns how many of the elements from an address on are in the same block. */
static int64_t elements_of_block(const lw_webgpu_launch *launch, const char *data, int64_t stride, int64_t count) {
    const lw_block *block = lw_find_block(&launch->recorder->addresses, data);
    int64_t left = stride ? (block->data + (int64_t)block->bytes - data) / stride : count;
    return left < count ? left : count;
}

void lw_webgpu_launch_parts(lw_webgpu_launch *launch, lw_webgpu_launcher *launcher) {
    const lw_plan *plan = launch->plan;
    int inputs = plan->operation->input_count;
    if (!can_be_split(plan)) {
        char message[sizeof launch->recorder->device.message];
        snprintf(message, sizeof message,
                 "expected operands and results of at most %llu bytes, the largest buffer of this device, unless the "
                 "operation is elementwise and they are contiguous; split them, or move them to the CPU with .to()",
                 (unsigned long long)launch->recorder->limits.buffer);
        lw_webgpu_refuse(launch, message);
        return;
    }
    lw_plan part = *plan;
    char *output = launch->outputs[0];
    for (int64_t left = plan->layout.shape[0], count; launch->status == LW_OK && left > 0; left -= count) {
        lw_webgpu_launch one = *launch;
        one.plan = &part;
        one.outputs = &output;
        count = elements_of_block(launch, output, plan->layout.strides[inputs][0], left < MAX_PART ? left : MAX_PART);
        for (int i = 0; i < inputs; i++) {
            if (lw_is_number(&plan->operands[i])) {
                part.operands[i].data = (const char *)&part.operands[i].scalar;
            } else if (plan->operands[i].data) {
                count = elements_of_block(launch, part.operands[i].data, plan->layout.strides[i][0], count);
            }
        }
        part.layout.shape[0] = count;
        launcher(&one);
        launch->status = one.status;
        output += count * plan->layout.strides[inputs][0];
        for (int i = 0; i < inputs; i++) {
            part.operands[i].data += lw_is_number(&plan->operands[i]) ? 0 : count * plan->layout.strides[i][0];
        }
    }
}
