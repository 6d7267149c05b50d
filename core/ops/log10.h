/* log10 x = k log10 2 + f (1 + t) log10 e, both constants in two parts. < 1.8 ulp. */
#ifndef LANEWISE_OPS_LOG10_H
#define LANEWISE_OPS_LOG10_H

#include "math/log.h"

LANE vf32 op_log10_float32(vf32 x) {
    int normal = log_is_normal(x);
    log_parts parts = normal ? log_split(x) : log_split_any(x);
    vf32 low = parts.f * vf32_fma(log_bend(parts.f), vf32_set(0x1.bcb7b2p-2f), vf32_set(-0x1.5b235ep-27f));
    low = vf32_fma(parts.power, vf32_set(0x1.3509f8p-18f), low);
    vf32 sum = vf32_fma(parts.f, vf32_set(0x1.bcb7b2p-2f), low);
    vf32 result = vf32_fma(parts.power, vf32_set(0x1.344p-2f), sum);
    return normal ? result : log_special(x, result);
}

#endif
