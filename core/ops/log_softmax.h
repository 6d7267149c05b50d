/* x - max - ln(sum of e^(x - max)): the logarithm of softmax, finite even where softmax underflows to 0. Rows that are
 * NaN in softmax are NaN here, too. */
#pragma once

#include "ops/log.h"
#include "ops/softmax.h"

INLINE vf32 log_softmax_shifted(const vf32 *x, const vf32 *numbers) { return (x[0] - numbers[0]) - numbers[1]; }

ROW_MAP(log_softmax_map, 1, 2, log_softmax_shifted, 0)

/* The exponentials are summed but not stored: the result may be in the memory of x, which is read once more. */
static void log_softmax_row(const row *r) {
    row powers = *r;
    powers.out_data = NULL;
    float max = softmax_max(r), sum = (float)softmax_powers(&powers, max);
    vf32 numbers[] = {vf32_set(max), op_log(vf32_set(sum))};
    log_softmax_map(r, r->in, NULL, numbers);
}

ROWS(log_softmax, 1)
