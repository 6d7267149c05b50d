/* One value everywhere. parameters: the value, .f for float dtypes and .i for the others. */
#ifndef LANEWISE_OPS_FULL_H
#define LANEWISE_OPS_FULL_H

#include "creation.h"

/* From an item at `value` that every position repeats: its step is 0. */
#define FULL(dtype, item, converted)                                                                    \
    static void full_piece_##dtype(const piece *p, const lw_scalar *parameters) {                       \
        item value = converted;                                                                         \
        item repeated[64];                                                                              \
        for (int i = 0; i < 64; i++) repeated[i] = value;                                               \
        for (int64_t i = 0; i < p->count; i += 64)                                                      \
            copy_strided(p->data[0] + i * p->step[0], p->step[0], (const char *)repeated, sizeof(item), \
                         min_int64(p->count - i, 64), sizeof(item));                                    \
    }                                                                                                   \
    CREATION(full, dtype)

LANE uint16_t full_float16(double x) { return vf32_to_float16(wf64_to_vf32_odd(wf64_set(x)))[0]; }

FULL(bool, uint8_t, parameters[0].i != 0)
FULL(int32, int32_t, (int32_t)parameters[0].i)
FULL(int64, int64_t, parameters[0].i)
FULL(float16, uint16_t, full_float16(parameters[0].f))
FULL(float32, float, (float)parameters[0].f)
FULL(float64, double, parameters[0].f)

#endif
