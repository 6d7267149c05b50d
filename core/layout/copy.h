/* Copies elements of any layout: in runs of contiguous elements by wide moves, or transposed in registers. */
#pragma once

#include "layout/layout_iterator.h"
#include "simd/simd.h"

enum { WIDE = sizeof(vu64) }; /* bytes of a register */

/* Fills `bytes` bytes with an element, repeated in `group`. */
INLINE void fill_run(char *to, int64_t bytes, uint64_t group) {
    int64_t i = 0;
    if (bytes >= WIDE) {
        vu64 wide = vu64_set(group);
        for (; i < bytes - WIDE; i += WIDE) {
            __builtin_memcpy(to + i, &wide, WIDE);
        }
        __builtin_memcpy(to + bytes - WIDE, &wide, WIDE);
        return;
    }
    for (; i + 8 <= bytes; i += 8) {
        __builtin_memcpy(to + i, &group, 8);
    }
    if (bytes & 4) {
        __builtin_memcpy(to + i, &group, 4);
        i += 4;
    }
    if (bytes & 2) {
        __builtin_memcpy(to + i, &group, 2);
        i += 2;
    }
    if (bytes & 1) {
        to[i] = (char)group; /* elements of 1 byte */
    }
}

/* Returns 8 bytes of copies of an element. */
INLINE uint64_t repeated(const char *from, int32_t size) {
    uint32_t narrow = (uint8_t)from[0];
    uint64_t wide;
    if (size == 8) {
        __builtin_memcpy(&wide, from, 8);
        return wide;
    }
    if (size == 4) {
        __builtin_memcpy(&narrow, from, 4);
    } else if (size == 2) {
        narrow = (narrow | (uint32_t)(uint8_t)from[1] << 8) * 0x00010001;
    } else {
        narrow *= 0x01010101;
    }
    return narrow | (uint64_t)narrow << 32;
}

/* Fills `bytes` bytes with copies of an element. */
INLINE void repeat_element(char *to, int64_t bytes, const char *from, int32_t size) {
    fill_run(to, bytes, repeated(from, size));
}

/* The rows of a matrix, at any distance from each other, and so for two dimensions of rows. Steps are in bytes. */
typedef struct copied_rows {
    int64_t count[2];     /* rows along the outer and the inner of the two dimensions */
    int64_t to_step[2];   /* from one row of the copy to the next, along either */
    int64_t from_step[2]; /* the same of the source */
} copied_rows;

/* Copies matrices of `columns` elements a row. `to_step` and `from_step` are the distances of elements in a row. Source
 * and copy must not overlap. */
void copy_rows(char *to, int64_t to_step, const char *from, int64_t from_step, const copied_rows *rows, int64_t columns,
               int32_t size);

/* Writes int32 zeros, the index of the only element of each row, to operand 1 of a layout. */
lw_status fill_zero_indices(lw_context *context, const lw_layout *layout, char *to);

/* Copies operand 0 of a layout to operand 1. */
lw_status copy_layout(lw_context *context, const lw_layout *layout, const char *from, char *to, int32_t size);
