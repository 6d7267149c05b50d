/* Transposes matrices in registers. */
#pragma once

#include <stdint.h>

/* Copies a matrix so that its rows become columns: element (r, c), at from + r * from_step + c * size, is copied to
 * to + c * to_step + r * size. Steps are in bytes, at any alignment; a size is 1, 2, 4 or 8 bytes. The matrices must
 * not overlap. */
void transpose(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t columns,
               int32_t size);
