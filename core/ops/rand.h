/* Uniform in [0, 1): the upper 24 bits of the random word times 2^-24, or 53 bits times 2^-53, exactly. */
#pragma once

#include "random.h"

INLINE vec op_rand_word(vbits word) {
#ifdef IS_64BIT
    return vi64_to_vf64((vi64)vu64_shift_right((vu64)word, 11)) * v_set(0x1p-53);
#else
    vu32 upper = vu32_shift_right(vi32_to_vu32(word), 8);
    return vi32_to_vf32(vu32_to_vi32(upper)) * v_set(0x1p-24f);
#endif
}

RANDOM(rand)
