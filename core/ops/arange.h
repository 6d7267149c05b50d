/* start + i * step, computed in double or int64 and then converted, so that errors do not grow with i.
 * parameters: start and step, in .f for float32 and .i for int32. */
#pragma once

#include "creation.h"

#define ARANGE(dtype, item, wide, field)                                          \
    static void arange_span_##dtype(const span *p, const lw_scalar *parameters) { \
        wide start = parameters[0].field, step = parameters[1].field;             \
        for (int64_t i = 0; i < p->count; i++) {                                  \
            item value = (item)(start + (wide)(p->position + i) * step);          \
            __builtin_memcpy(p->data[0] + i * p->step[0], &value, sizeof value);  \
        }                                                                         \
    }                                                                             \
    CREATION(arange, dtype)

ARANGE(float32, float, double, f)
ARANGE(int32, int32_t, int64_t, i)
