/* Resolves calls of conv2d, max_pool2d and avg_pool2d on images of shape (N, C, H, W), or on one image (C, H, W). */
#include "plan/plan.h"
#include <string.h>

/* What a position of a pool takes besides the elements of its window, in steps. */
enum { STEPS_OF_POSITION = 60 };

/* If the operation has no such parameter, `pair` keeps the values that the caller has set. */
static int parse_named_pair(const lw_arguments *arguments, const char *name, int64_t minimum, int64_t pair[2]) {
    int position = lw_find_named(arguments->operation, name);
    return position < 0 ? 0 : lw_parse_pair(arguments, position, minimum, pair);
}

/* Returns the number of windows along one dimension, or -1 with an error set if the window exceeds the padded image. */
static int64_t window_count(const lw_window_layout *layout, int axis) {
    int64_t reach = layout->dilation[axis] * (layout->kernel_size[axis] - 1) + 1;
    int64_t padded = layout->in_size[axis] + 2 * layout->padding[axis];
    if (reach > padded) {
        return lw_refuse(LW_SHAPE_ERROR,
                         "expected a window of at most %lld %s (the padded image has no more), got %lld; use a smaller "
                         "kernel, less dilation or more padding",
                         (long long)padded, axis ? "columns" : "rows", (long long)reach);
    }
    return (padded - reach) / layout->stride[axis] + 1;
}

static int set_image_layout(const lw_operand *x, lw_window_layout *layout) {
    int single = x->ndim == 3;
    if (!single && x->ndim != 4) {
        return lw_refuse(LW_SHAPE_ERROR, "expected images (N, C, H, W) or (C, H, W), got shape %s",
                         lw_shape_text(x->ndim, x->shape));
    }
    layout->batch = single ? 1 : x->shape[0];
    layout->in_channels = x->shape[1 - single];
    layout->strides[0][0] = single ? 0 : x->strides[0];
    for (int i = 1; i < 4; i++) {
        layout->strides[0][i] = x->strides[i - single];
    }
    layout->in_size[0] = x->shape[2 - single];
    layout->in_size[1] = x->shape[3 - single];
    return 0;
}

/* Makes the strides of the weight row-major, by a copy unless only those of axes of extent 1 differ: the CPU multiplies
 * matrices only if the weight is one, and otherwise takes up to 200 times as long. */
static int flatten_weight(lw_operand *weight) {
    if (!weight->contiguous) {
        return lw_copy_operand(weight, weight->dtype);
    }
    weight->strides = weight->copy_strides;
    return lw_checked_row_major(weight->dtype, weight->ndim, weight->shape, weight->copy_strides) < 0 ? -1 : 0;
}

static int set_weight_layout(const lw_operand *weight, const lw_operand *bias, lw_window_layout *layout) {
    int64_t groups = layout->groups;
    if (weight->ndim != 4) {
        return lw_refuse(LW_SHAPE_ERROR, "expected weight (O, I, H, W), got shape %s",
                         lw_shape_text(weight->ndim, weight->shape));
    }
    layout->out_channels = weight->shape[0];
    if (groups < 1 || layout->in_channels % groups || layout->out_channels % groups) {
        return lw_refuse(LW_ARGUMENT_ERROR,
                         "expected groups to divide the %lld input and %lld output channels, got %lld",
                         (long long)layout->in_channels, (long long)layout->out_channels, (long long)groups);
    }
    if (weight->shape[1] != layout->in_channels / groups) {
        return lw_refuse(LW_SHAPE_ERROR,
                         "expected weight (O, %lld, H, W) for %lld input channels in %lld groups, got shape %s",
                         (long long)(layout->in_channels / groups), (long long)layout->in_channels, (long long)groups,
                         lw_shape_text(weight->ndim, weight->shape));
    }
    if (weight->shape[2] < 1 || weight->shape[3] < 1) {
        return lw_refuse(LW_SHAPE_ERROR, "expected a weight with windows of at least 1 x 1, got shape %s",
                         lw_shape_text(weight->ndim, weight->shape));
    }
    if (bias->data && (bias->ndim != 1 || bias->shape[0] != layout->out_channels)) {
        return lw_refuse(LW_SHAPE_ERROR, "expected bias of shape (%lld,), one value per output channel, got %s",
                         (long long)layout->out_channels, lw_shape_text(bias->ndim, bias->shape));
    }
    layout->kernel_size[0] = weight->shape[2];
    layout->kernel_size[1] = weight->shape[3];
    memcpy(layout->strides[1], weight->strides, sizeof layout->strides[1]);
    layout->strides[2][0] = bias->data ? bias->strides[0] : 0;
    return 0;
}

/* Sets up a pooling window. Channels are independent; the stride defaults to the window's size. */
static int set_pool_layout(const lw_arguments *arguments, lw_window_layout *layout) {
    if (parse_named_pair(arguments, "kernel_size", 1, layout->kernel_size) < 0) {
        return -1;
    }
    if (layout->in_size[0] == 0 || layout->in_size[1] == 0) {
        return lw_refuse(LW_SHAPE_ERROR, "expected images of at least 1 x 1, got %lld x %lld",
                         (long long)layout->in_size[0], (long long)layout->in_size[1]);
    }
    layout->out_channels = layout->groups = layout->in_channels;
    memcpy(layout->stride, layout->kernel_size, sizeof layout->stride);
    return 0;
}

/* Sets stride, padding and dilation, and computes the number of windows from these. */
static int set_window_layout(const lw_arguments *arguments, int pools, lw_window_layout *layout) {
    int follows = pools && !lw_has_parameter(arguments, "stride"); /* keep the stride that set_pool_layout() has set */
    if ((!follows && parse_named_pair(arguments, "stride", 1, layout->stride) < 0) ||
        parse_named_pair(arguments, "padding", 0, layout->padding) < 0 ||
        parse_named_pair(arguments, "dilation", 1, layout->dilation) < 0) {
        return -1;
    }
    for (int axis = 0; axis < 2; axis++) {
        if (pools && 2 * layout->padding[axis] > layout->kernel_size[axis]) {
            return lw_refuse(LW_ARGUMENT_ERROR,
                             "expected padding of at most half the kernel_size %lld, got %lld; larger padding leaves "
                             "windows without elements",
                             (long long)layout->kernel_size[axis], (long long)layout->padding[axis]);
        }
        layout->out_size[axis] = window_count(layout, axis);
        if (layout->out_size[axis] < 0) {
            return -1;
        }
    }
    return 0;
}

int lw_resolve_window(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operand *operands = plan->operands;
    lw_window_layout *layout = &plan->window;
    int count = plan->operation->input_count;
    int pools = count == 1;
    *layout = (lw_window_layout){.groups = 1, .stride = {1, 1}, .dilation = {1, 1}};
    if (lw_choose_kernel(arguments, plan, count) < 0 || lw_parse_kernel_parameters(arguments, plan->parameters) < 0 ||
        set_image_layout(&operands[0], layout) < 0 ||
        (!pools && !lw_devices[plan->placement.backend] && flatten_weight(&plan->operands[1]) < 0)) {
        return -1;
    }
    layout->groups = pools ? 1 : plan->parameters[0].i; /* groups, the only kernel parameter of conv2d */
    if ((pools ? set_pool_layout(arguments, layout) : set_weight_layout(&operands[1], &operands[2], layout)) < 0 ||
        set_window_layout(arguments, pools, layout) < 0) {
        return -1;
    }
    int64_t shape[4] = {layout->batch, layout->out_channels, layout->out_size[0], layout->out_size[1]};
    int single = operands[0].ndim == 3;
    int64_t size = lw_set_result(plan, 4 - single, shape + single);
    for (int i = single; i < 4; i++) {
        layout->strides[count][i] = plan->results[0].strides[i - single];
    }
    int64_t window = layout->kernel_size[0] * layout->kernel_size[1];
    plan->steps = pools ? size * (window + STEPS_OF_POSITION) : size * window;
    if (size > 0) {
        plan->steps *= layout->in_channels / layout->groups;
    }
    return size < 0 ? -1 : 0;
}
