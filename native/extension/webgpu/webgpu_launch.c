/* What the launches of all kinds share. */
#include "webgpu/webgpu_launch.h"
#include <stdio.h>
#include <string.h>

void lw_webgpu_record(lw_webgpu_launch *launch) {
    if (launch->status == LW_OK) {
        launch->status =
            lw_record(launch->recorder, &launch->dispatch, launch->bindings, launch->parameters, launch->launch_id);
    }
}

uint32_t lw_webgpu_at_most(const lw_webgpu_launch *launch, int64_t groups) {
    int64_t limit = launch->recorder->limits.groups;
    return (uint32_t)(groups < limit ? groups : limit);
}

void lw_webgpu_set_groups(lw_webgpu_launch *launch, int64_t x, int64_t y, int64_t z) {
    launch->dispatch.groups[0] = lw_webgpu_at_most(launch, x);
    launch->dispatch.groups[1] = lw_webgpu_at_most(launch, y);
    launch->dispatch.groups[2] = lw_webgpu_at_most(launch, z);
}

void lw_webgpu_record_groups(lw_webgpu_launch *launch, int64_t count) {
    lw_webgpu_set_groups(launch, count, 1, 1);
    lw_webgpu_record(launch);
}

void lw_webgpu_record_invocations(lw_webgpu_launch *launch, int64_t count) {
    lw_webgpu_record_groups(launch, lw_divide_up(count, LW_WGSL_GROUP));
}

int lw_webgpu_encode_scalars(const lw_operation *operation, const lw_scalar *parameters, uint32_t *scalars) {
    int position = 0;
    for (int i = 0; i < operation->parameter_count && position < LW_WGSL_OPERANDS; i++) {
        if (operation->parameters[i].type <= LW_PARAMETER_CHOICE) {
            const lw_scalar *value = &parameters[position];
            float rounded = (float)value->f;
            if (operation->parameters[i].type == LW_PARAMETER_FLOAT) {
                memcpy(&scalars[position], &rounded, sizeof rounded);
            } else {
                scalars[position] = (uint32_t)value->i;
            }
            position++;
        }
    }
    return position;
}

uint32_t lw_webgpu_bind(lw_webgpu_launch *launch, uint32_t (*numbers)[2]) {
    const lw_plan *plan = launch->plan;
    const lw_addresses *addresses = &launch->recorder->addresses;
    const lw_block *out = lw_find_block(addresses, launch->outputs[0]);
    int count = plan->operation->input_count;
    for (int i = 0; i < count; i++) {
        const lw_operand *operand = &plan->operands[i];
        lw_source_of_input source = LW_FROM_BUFFER;
        if (!operand->data) {
            source = LW_FROM_NOWHERE;
        } else if (lw_is_number(operand)) {
            source = LW_FROM_NUMBER;
            memcpy(numbers[i], &operand->scalar, sizeof operand->scalar);
        } else {
            const lw_block *block = lw_find_block(addresses, operand->data);
            source = block == out ? LW_FROM_RESULT : LW_FROM_BUFFER;
            launch->parameters[i] = (uint32_t)(operand->data - block->data);
        }
        launch->dispatch.sources |= (uint32_t)source << (2 * i);
        launch->bindings[i] = source == LW_FROM_BUFFER ? operand->data : NULL;
    }
    launch->bindings[count] = launch->outputs[0];
    return (uint32_t)(launch->outputs[0] - out->data);
}

void lw_webgpu_narrow(uint32_t *to, const int64_t *from, int count) {
    for (int i = 0; i < count; i++) {
        to[i] = (uint32_t)from[i];
    }
}

void lw_webgpu_narrow_strides(uint32_t (*to)[LW_WGSL_OPERANDS], const int64_t (*from)[LW_MAX_NDIM], int operands,
                              int ndim) {
    for (int axis = 0; axis < ndim; axis++) {
        for (int i = 0; i < operands; i++) {
            to[axis][i] = (uint32_t)from[i][axis];
        }
    }
}

void lw_webgpu_refuse(lw_webgpu_launch *launch, const char *message) {
    lw_device *device = &launch->recorder->device;
    snprintf(device->message, sizeof device->message, "%s", message);
    launch->status = LW_REFUSED;
}

void lw_webgpu_refuse_size(lw_webgpu_launch *launch) {
    lw_webgpu_refuse(launch, "expected operands of fewer than 2^31 elements; split them, or move them to the CPU with "
                             ".to()");
}

void lw_webgpu_check_rounds(lw_webgpu_launch *launch, int64_t count, int64_t groups, int64_t rounds) {
    int64_t limit = launch->recorder->limits.rounds;
    if (limit > 0 && groups > 0 && lw_divide_up(count, groups) > limit / rounds) {
        lw_webgpu_refuse(launch, "expected smaller operands, because this adapter cuts long loops short, which makes "
                                 "results wrong; split them, or move them to the CPU with .to()");
    }
}

void lw_webgpu_release_scratch(lw_webgpu_launch *launch) {
    if (launch->scratch) {
        lw_storage_release(launch->scratch);
    }
    launch->scratch = NULL;
}

void lw_webgpu_bind_scratch(lw_webgpu_launch *launch, int64_t bytes) {
    lw_webgpu_release_scratch(launch);
    if (launch->status == LW_OK) {
        launch->scratch = lw_storage_new(bytes, &launch->recorder->device);
        launch->status = launch->scratch ? LW_OK : LW_INTERRUPTED; /* with an error set */
        launch->bindings[launch->plan->operation->input_count + 1] = launch->scratch ? launch->scratch->data : NULL;
    }
}
