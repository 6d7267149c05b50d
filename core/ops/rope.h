/* Rotary position embedding (rotation.h). From one position to the next, pair i of a row of d elements rotates
 * by the angle theta^(-2i/d). Linear scaling divides all angles by the factor; NTK-aware scaling multiplies theta by
 * factor^(d/(d - 2)), which leaves the angle of the first pair unchanged and divides that of the last by the factor.
 * parameters: theta, offset, pairs and scaling (indices into the choices of the contract), factor. */
#pragma once

#include "rotation.h"

ELEMENT_KERNEL(rope) {
    const lw_layout *l = layout;
    double depth = (double)l->shape[l->ndim - 1], step = -2 / depth * double_log(parameters[0].f);
    rotation r = {.layout = l, .x = inputs[0], .out = outputs[0], .first_angle = 1, .offset = parameters[1].i};
    r.adjacent = parameters[2].i == 0;
    if (parameters[3].i == 0) {
        r.first_angle = 1 / parameters[4].f;
    } else if (depth > 2) {
        step -= 2 / (depth - 2) * double_log(parameters[4].f);
    }
    r.ratio = double_exp(step);
    return rotation_run(context, &r);
}
