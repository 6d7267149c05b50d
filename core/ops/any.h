/* Whether any element is nonzero. NaN is nonzero. The result for no elements is false. */
#pragma once

#include "element.h"

#if defined IS_8BIT || defined IS_16BIT
#include "reduce/extreme.h"

INLINE vec any_truth(vec x) { return (vec)v_is_nonzero(x) & 1; }
EXTREME_INTEGERS(any, uint8_t, 0, any_truth(x), a | b, total, ELEMENT_SIZE == 1, REDUCE_DECIDED_BY_TRUE, NULL)
#elif defined LW_ELEMENT_BOOL /* in memory, bytes of 0 and 1 */
#include "layout/layout_iterator.h"

HIDDEN_KERNEL lw_any_int8;
ELEMENT_KERNEL(any) { return lw_any_int8(context, layout, inputs, outputs, parameters); }
#else
#include "reduce/reduction.h"

OWN_KERNELS(any, any_int8, any_int8, any_int16, any_int16)
DECIDED_REDUCTION(any, 1, vmask, uint8_t, m_set(0), v_is_nonzero(x), a | b, total != 0, 0, REDUCE_DECIDED_BY_TRUE,
                  OWN(any))
#endif
