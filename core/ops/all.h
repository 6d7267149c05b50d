/* Whether every element is nonzero. NaN is nonzero. The result for no elements is true. */
#pragma once

#include "element.h"

#if defined IS_8BIT || defined IS_16BIT
#include "reduce/extreme.h"

INLINE vec all_truth(vec x) { return (vec)v_is_nonzero(x) & 1; }
EXTREME_INTEGERS(all, uint8_t, 1, all_truth(x), a &b, total, ELEMENT_SIZE == 1, REDUCE_DECIDED_BY_FALSE, NULL)
#elif defined LW_ELEMENT_BOOL /* in memory, bytes of 0 and 1 */
#include "layout/layout_iterator.h"

HIDDEN_KERNEL lw_all_int8;
ELEMENT_KERNEL(all) { return lw_all_int8(context, layout, inputs, outputs, parameters); }
#else
#include "reduce/reduction.h"

OWN_KERNELS(all, all_int8, all_int8, all_int16, all_int16)
DECIDED_REDUCTION(all, 1, vmask, uint8_t, m_set(1), v_is_nonzero(x), a &b, total != 0, 0, REDUCE_DECIDED_BY_FALSE,
                  OWN(all))
#endif
