/* Uniform in [0, 1): the upper 24 bits of the random word times 2^-24, exactly. */
#pragma once

#include "random.h"

INLINE vf32 op_rand_word(vi32 word) {
    vu32 upper = vu32_shift_right(vi32_to_vu32(word), 8);
    return vi32_to_vf32(vu32_to_vi32(upper)) * vf32_set(0x1p-24f);
}

RANDOM(rand)
