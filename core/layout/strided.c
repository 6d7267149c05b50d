#include "layout/strided.h"

#include "paths.h"
#include "simd/simd.h"

/* Reverses the bytes or the elements of 2 bytes in each lane. */
static inline vu32 reversed_within(vu32 x, int32_t size) {
    vu32 bytes = (x & 0x00ff00ff) << 8 | (x >> 8 & 0x00ff00ff);
    x = size == 1 ? bytes : x;
    return x << 16 | x >> 16;
}

/* Copies contiguous elements in reverse order, as many as fill registers: element i comes from i elements before
 * `from`. Returns how many it has copied. `size` is a constant. */
INLINE int64_t copy_reversed(char *to, const char *from, int64_t count, int32_t size) {
    int64_t step = size == 8 ? VF64_LANES : (int64_t)sizeof(vu32) / size, i = 0;
    for (; i + step <= count; i += step) {
        const char *at = from - (i + step - 1) * size;
        char *target = to + i * size;
        if (size == 8) {
            vi64_store((int64_t *)target, vi64_swap(vi64_load((const int64_t *)at), VF64_LANES - 1));
        } else {
            vu32 x = vu32_swap(vu32_load((const uint32_t *)at), VF32_LANES - 1);
            vu32_store((uint32_t *)target, size == 4 ? x : reversed_within(x, size));
        }
    }
    return i;
}

/* Copies every second element, as many as fill registers, to a contiguous array. Returns how many it has copied: at
 * least one is left, because a register also reads the element after the last one that it takes. `size` is a
 * constant. */
INLINE int64_t copy_alternate(char *to, const char *from, int64_t count, int32_t size) {
    int64_t step = size == 1 ? V16_LANES : size == 8 ? VF64_LANES : VF32_LANES, i = 0;
#pragma GCC unroll 4
    for (; i + step < count; i += step) {
        const char *at = from + 2 * i * size;
        char *target = to + i * size;
        if (size == 1) {
            hu8_store((uint8_t *)target, __builtin_convertvector(vu16_load((const uint16_t *)at), hu8));
        } else if (size == 2) {
            ni16_store((int16_t *)target, __builtin_convertvector(vi32_load((const int32_t *)at), ni16));
        } else if (size == 4) {
            const int32_t *both = (const int32_t *)at;
            vi32_store((int32_t *)target, vi32_even(vi32_load(both), vi32_load(both + VF32_LANES)));
        } else {
            const int64_t *both = (const int64_t *)at;
            vi64_store((int64_t *)target, vi64_even(vi64_load(both), vi64_load(both + VF64_LANES)));
        }
    }
    return i;
}

INLINE int64_t copy_registers(char *to, const char *from, int64_t from_step, int64_t count, int32_t size) {
    return from_step < 0 ? copy_reversed(to, from, count, size) : copy_alternate(to, from, count, size);
}

void copy_strided(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count, int32_t size) {
    if (to_step == size && (from_step == -size || from_step == 2 * size)) {
        PATH_EITHER(from_step < 0, "strided: reversed", "strided: alternate");
        int64_t done = size == 1   ? copy_registers(to, from, from_step, count, 1)
                       : size == 2 ? copy_registers(to, from, from_step, count, 2)
                       : size == 4 ? copy_registers(to, from, from_step, count, 4)
                                   : copy_registers(to, from, from_step, count, 8);
        to += done * size;
        from += done * from_step;
        count -= done;
    }
    if (to_step == size && from_step == size) {
        PATH("strided: contiguous");
        copy_bytes(to, from, count * size);
    } else if (size == 1) {
        PATH("strided: 1 byte");
        copy_strided_8(to, to_step, from, from_step, count);
    } else if (size == 2) {
        PATH("strided: 2 bytes");
        copy_strided_16(to, to_step, from, from_step, count);
    } else if (size == 4) {
        PATH("strided: 4 bytes");
        copy_strided_32(to, to_step, from, from_step, count);
    } else {
        PATH("strided: 8 bytes");
        copy_strided_64(to, to_step, from, from_step, count);
    }
}
