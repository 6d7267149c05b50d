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
INLINE double rms_norm_factor(double squares, double factor, double length, double eps) {
    if (factor > 1 && eps > 0) {
        squares = squares / factor / factor;
        factor = 1;
    }
    return factor * __builtin_sqrt(length / (squares + length * eps * factor * factor));
}

INLINE void rms_norm_rows(const row *r, int beside) {
    reduced totals[ROW_BESIDE];
    row_numbers factors;
    double squares[ROW_BESIDE], length = (double)r->length, eps = r->parameters[0].f;
    int is_scaled = 0;
    row_reduce(r, beside, r->in[0], &norm_l2_reducer, totals);
    for (int64_t i = 0; i < row_width(r, beside); i++) {
        squares[i] = totals[i].squares.squares;
        is_scaled |= totals[i].squares.factor != 1;
    }
    for (int64_t i = 0; i < row_width(r, beside) && !is_scaled; i++) { /* without branches: compilers vectorize it */
        factors[i] = (element)rms_norm_factor(squares[i], 1, length, eps);
    }
    for (int64_t i = 0; i < row_width(r, beside) && is_scaled; i++) {
        factors[i] = (element)rms_norm_factor(squares[i], totals[i].squares.factor, length, eps);
    }
    static const element absent[] = {0, 1};
    rms_norm_map(r, beside, r->in, absent, &factors, NULL);
}

ROWS(rms_norm, 2)
