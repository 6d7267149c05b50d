/* The largest element in each window. The padding is -inf, which never wins; NaN wins. */
#ifndef LANEWISE_OPS_MAX_POOL2D_H
#define LANEWISE_OPS_MAX_POOL2D_H

#include "window.h"

static void max_pool2d_strip(const strips *s, int64_t image, int64_t channel, int64_t i, int64_t j, int64_t count,
                             float *result) {
    const lw_window_layout *w = s->layout;
    const char *x = s->x + image * w->strides[0][0] + channel * w->strides[0][1];
    const float outside = -__builtin_inff();
    float buffer[WINDOW_STRIP];
    int64_t width = window_width(count);
    for (int64_t v = 0; v < width; v += VF32_LANES) vf32_store(result + v, vf32_set(outside));
    for (int64_t p = 0; p < w->kernel_size[0]; p++)
        for (int64_t q = 0; q < w->kernel_size[1]; q++) {
            const float *tap = window_tap(w, x, i, j, p, q, count, outside, buffer);
            for (int64_t v = 0; v < width; v += VF32_LANES)
                vf32_store(result + v, vf32_maximum(vf32_load(result + v), vf32_load(tap + v)));
        }
}

static lw_status lw_max_pool2d_float32(lw_context *context, const void *layout, const void *const *inputs,
                                       void *const *outputs, const lw_scalar *parameters) {
    (void)parameters;
    const lw_window_layout *w = layout;
    strips s = {
        .layout = w, .x = inputs[0], .out = outputs[0], .out_strides = w->strides[1], .function = max_pool2d_strip};
    return run_strips(context, &s, w->kernel_size[0] * w->kernel_size[1]);
}

#endif
