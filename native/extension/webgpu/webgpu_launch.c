/* What the launches of all kinds share. */
#include "webgpu/webgpu_launch.h"
#include <stdio.h>
#include <string.h>

lw_status lw_webgpu_record(lw_webgpu_launch *launch) {
    return lw_record(launch->recorder, &launch->dispatch, launch->bindings, launch->parameters, launch->launch_id);
}

uint32_t lw_webgpu_at_most(const lw_webgpu_launch *launch, int64_t groups) {
    int64_t limit = launch->recorder->limits.groups;
    return (uint32_t)(groups < limit ? groups : limit);
}

lw_status lw_webgpu_record_groups(lw_webgpu_launch *launch, int64_t count) {
    launch->dispatch.groups[0] = lw_webgpu_at_most(launch, count);
    return lw_webgpu_record(launch);
}

lw_status lw_webgpu_record_invocations(lw_webgpu_launch *launch, int64_t count) {
    return lw_webgpu_record_groups(launch, (count + LW_WGSL_GROUP - 1) / LW_WGSL_GROUP);
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

lw_status lw_webgpu_refuse(const lw_webgpu_launch *launch, const char *message) {
    lw_device *device = &launch->recorder->device;
    snprintf(device->message, sizeof device->message, "%s", message);
    return LW_REFUSED;
}

lw_status lw_webgpu_refuse_size(lw_webgpu_launch *launch) {
    return lw_webgpu_refuse(launch,
                            "expected operands of fewer than 2^31 elements; split them, or move them to the CPU "
                            "with .to()");
}

lw_status lw_webgpu_check_rounds(lw_webgpu_launch *launch, int64_t count, int64_t groups, int64_t rounds) {
    int64_t limit = launch->recorder->limits.rounds;
    if (limit <= 0 || groups <= 0 || (count + groups - 1) / groups <= limit / rounds) {
        return LW_OK;
    }
    return lw_webgpu_refuse(launch,
                            "expected smaller operands, because this adapter cuts long loops short, which makes "
                            "results wrong; split them, or move them to the CPU with .to()");
}

lw_storage *lw_webgpu_bind_scratch(lw_webgpu_launch *launch, int64_t bytes) {
    lw_storage *scratch = lw_storage_new(bytes, &launch->recorder->device);
    launch->bindings[launch->plan->operation->input_count + 1] = scratch ? scratch->data : NULL;
    return scratch;
}
