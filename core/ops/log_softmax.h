/* x - max - ln(sum of e^(x - max)): the logarithm of softmax, finite even where softmax underflows to 0. Rows that are
 * NaN in softmax are NaN here, too. */
#pragma once

#include "ops/log.h"
#include "ops/softmax.h"

INLINE vec log_softmax_shifted(const vec *x, const vec *numbers) { return (x[0] - numbers[0]) - numbers[1]; }

ROW_MAP(log_softmax_map, 1, 2, log_softmax_shifted, 0)

/* The exponentials are summed but not stored: the result may be in the memory of x, which is read once more. */
INLINE void log_softmax_rows(const row *r, int beside) {
    row powers = *r;
    row_numbers numbers[2];
    double sums[ROW_BESIDE];
    powers.out_data = NULL;
    softmax_powers(&powers, beside, numbers, sums);
    for (int64_t i = 0; i < row_width(r, beside); i++) {
        numbers[1][i] = (element)sums[i];
    }
    for (int64_t i = 0; i < row_width(r, beside); i += LANES) {
        vec logs = op_log(row_number(numbers[1], beside, i));
        if (beside) {
            v_store(numbers[1] + i, logs);
        } else {
            numbers[1][0] = v_first(logs);
        }
    }
    log_softmax_map(r, beside, r->in, NULL, numbers, NULL);
}

ROWS(log_softmax, 1)
