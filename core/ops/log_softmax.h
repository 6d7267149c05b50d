/* x - max - ln(sum of e^(x - max)): the logarithm of softmax, finite even where softmax underflows to 0. Rows that are
 * NaN in softmax are NaN here, too. */
#pragma once

#include "ops/log.h"
#include "ops/softmax.h"

INLINE vec log_softmax_shifted(const vec *x, const vec *numbers) { return (x[0] - numbers[0]) - numbers[1]; }

ROW_MAP(log_softmax_map, 1, 2, log_softmax_shifted, 0)

/* The exponentials are summed but not stored: the result may be in the memory of x, which is read once more. */
static void log_softmax_row(const row *r) {
    row powers = *r;
    powers.out_data = NULL;
    element max = softmax_max(r), sum = (element)softmax_powers(&powers, max);
    vec numbers[] = {v_set(max), op_log(v_set(sum))};
    log_softmax_map(r, r->in, NULL, numbers);
}

ROWS(log_softmax, 1)
