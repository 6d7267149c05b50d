/* x / sqrt(mean of squares + eps) * weight; weight is optional. The squares are summed as in norm_l2.h, so large
 * elements do not overflow. parameters: eps. */
#pragma once

#include "ops/norm_l2.h"
#include "reduce/rows.h"

/* x[0] is the element and x[1] the weight. */
INLINE vec rms_norm_scaled(const vec *x, const vec *factor) { return x[0] * factor[0] * x[1]; }

ROW_MAP(rms_norm_map, 2, 1, rms_norm_scaled, 0)

/* 1 / sqrt(squares / length + eps), with one division less. Squares so small that they were scaled up only matter, and
 * only keep their factor, if eps is 0. */
static double rms_norm_factor(const reduced *total, double length, double eps) {
    double factor = total->squares.factor, squares = total->squares.squares;
    if (factor > 1 && eps > 0) {
        squares = squares_value(total);
        factor = 1;
    }
    return factor * __builtin_sqrt(length / (squares + length * eps * factor * factor));
}

static void rms_norm_row(const row *r) {
    reduced total = row_reduce(r, r->in[0], &norm_l2_reducer);
    vec factor = v_set((element)rms_norm_factor(&total, (double)r->length, r->parameters[0].f));
    static const element absent[] = {0, 1};
    rms_norm_map(r, r->in, absent, &factor);
}

ROWS(rms_norm, 2)
