/* A matrix is cut into squares of whole cache lines, and these into blocks that fit registers. */
#include "layout/transpose.h"

#include "layout/layout_iterator.h"
#include "layout/strided.h"
#include "simd/simd.h"

enum {
    LINE = 64, /* bytes of a cache line */
    HAS_NARROW = VF32_LANES > 1 && !IS_DOWNLOADED,
    NARROW = VF32_LANES > 4 ? 15 : 8, /* elements, at most, of rows that are transposed as one sequence */
    FEW = 4,                          /* rows or columns; fewer are copied one by one */
    BAND = 512 /* lines of the copy that are written in turn: their pages have to fit the processor's tables of them */
};

/* Defines transpose_block_<bits>, which transposes `height` rows of `width` elements of 4 or 8 bytes, at most as many
 * as a register has lanes. A perfect shuffle of the upper half of the rows with the lower half, log2(lanes) times,
 * transposes them. Not inlined, because compilers would compute the addresses of all rows ahead of each loop. */
#define UNROLLED _Pragma("GCC unroll 16")
#define TRANSPOSE_BLOCK(bits, lanes)                                                                               \
    INLINE void transpose_block_##bits(char *to, int64_t to_step, const char *from, int64_t from_step, int height, \
                                       int width) {                                                                \
        vi##bits x[lanes], zipped[lanes], zero = vi##bits##_set(0);                                                \
        UNROLLED for (int i = 0; i < lanes; i++) {                                                                 \
            const int##bits##_t *at = (const int##bits##_t *)(from + i * from_step);                               \
            x[i] = i >= height      ? zero                                                                         \
                   : width == lanes ? vi##bits##_load(at)                                                          \
                                    : vi##bits##_load_partial(at, width, zero);                                    \
        }                                                                                                          \
        UNROLLED for (int n = 1; n < lanes; n *= 2) {                                                              \
            UNROLLED for (int i = 0; i < lanes / 2; i++) {                                                         \
                zipped[2 * i] = vi##bits##_zip_low(x[i], x[i + lanes / 2]);                                        \
                zipped[2 * i + 1] = vi##bits##_zip_high(x[i], x[i + lanes / 2]);                                   \
            }                                                                                                      \
            UNROLLED for (int i = 0; i < lanes; i++) x[i] = zipped[i];                                             \
        }                                                                                                          \
        UNROLLED for (int i = 0; i < lanes; i++) {                                                                 \
            int##bits##_t *at = (int##bits##_t *)(to + i * to_step);                                               \
            if (i < width && height == lanes) {                                                                    \
                vi##bits##_store(at, x[i]);                                                                        \
            } else if (i < width) {                                                                                \
                vi##bits##_store_partial(at, x[i], height);                                                        \
            }                                                                                                      \
        }                                                                                                          \
    }                                                                                                              \
    static __attribute__((noinline)) void transpose_square_##bits(char *to, int64_t to_step, const char *from,     \
                                                                  int64_t from_step) {                             \
        transpose_block_##bits(to, to_step, from, from_step, lanes, lanes);                                        \
    }                                                                                                              \
    RARE void transpose_edge_##bits(char *to, int64_t to_step, const char *from, int64_t from_step, int height,    \
                                    int width) {                                                                   \
        transpose_block_##bits(to, to_step, from, from_step, height, width);                                       \
    }

TRANSPOSE_BLOCK(32, VF32_LANES)
TRANSPOSE_BLOCK(64, VF64_LANES)

/* Defines transpose_narrow_<bits>, which transposes contiguous rows of n elements of 4 or 8 bytes, or with `back`,
 * makes such rows of n long ones. Returns how many of the `count` rows it has transposed. As many rows as a register
 * has lanes are n registers, whatever n is: log2(lanes) times, the first half of all elements is zipped with the second
 * half, or with `back`, the elements at even positions are moved before those at odd positions. If n is odd, the middle
 * is within a register. */
#define TRANSPOSE_NARROW(bits, lanes)                                                                             \
    INLINE vi##bits unzipped_##bits(const vi##bits *x, int n, int i) {                                            \
        return 2 * i + 1 < n    ? vi##bits##_even(x[2 * i], x[2 * i + 1])                                         \
               : 2 * i + 1 == n ? vi##bits##_even(x[2 * i], vi##bits##_swap(x[0], 1))                             \
                                : vi##bits##_odd(x[2 * i - n], x[2 * i + 1 - n]);                                 \
    }                                                                                                             \
    INLINE vi##bits zipped_##bits(const vi##bits *x, int n, int i) {                                              \
        vi##bits other = x[(n + i) / 2];                                                                          \
        other = n % 2 ? vi##bits##_swap(other, lanes / 2) : other;                                                \
        return i % 2 ? vi##bits##_zip_high(x[i / 2], other) : vi##bits##_zip_low(x[i / 2], other);                \
    }                                                                                                             \
    INLINE int64_t narrow_rows_##bits(char *to, const char *from, int64_t step, int64_t count, int n, int back) { \
        int64_t done = 0, narrow = n * (int64_t)sizeof(int##bits##_t);                                            \
        for (; done + lanes <= count; done += lanes) {                                                            \
            int64_t wide_at = done * (int64_t)sizeof(int##bits##_t);                                              \
            const char *source = from + (back ? wide_at : done * narrow);                                         \
            char *target = to + (back ? done * narrow : wide_at);                                                 \
            vi##bits x[NARROW], moved[NARROW];                                                                    \
            UNROLLED for (int i = 0; i < n; i++) {                                                                \
                x[i] = vi##bits##_load((const int##bits##_t *)(source + i * (back ? step : (int64_t)sizeof *x))); \
            }                                                                                                     \
            UNROLLED for (int round = 1; round < lanes; round *= 2) {                                             \
                UNROLLED for (int i = 0; i < n; i++) {                                                            \
                    moved[i] = back ? unzipped_##bits(x, n, i) : zipped_##bits(x, n, i);                          \
                }                                                                                                 \
                UNROLLED for (int i = 0; i < n; i++) x[i] = moved[i];                                             \
            }                                                                                                     \
            UNROLLED for (int i = 0; i < n; i++) {                                                                \
                vi##bits##_store((int##bits##_t *)(target + i * (back ? (int64_t)sizeof *x : step)), x[i]);       \
            }                                                                                                     \
        }                                                                                                         \
        return done;                                                                                              \
    }                                                                                                             \
    INLINE int64_t transpose_narrow_##bits(char *to, const char *from, int64_t step, int64_t count, int64_t n,    \
                                           int back) {                                                            \
        return n == 2                  ? narrow_rows_##bits(to, from, step, count, 2, back)                       \
               : n == 3                ? narrow_rows_##bits(to, from, step, count, 3, back)                       \
               : n == 4                ? narrow_rows_##bits(to, from, step, count, 4, back)                       \
               : n == 5                ? narrow_rows_##bits(to, from, step, count, 5, back)                       \
               : n == 6                ? narrow_rows_##bits(to, from, step, count, 6, back)                       \
               : n == 7                ? narrow_rows_##bits(to, from, step, count, 7, back)                       \
               : n == 8 || NARROW == 8 ? narrow_rows_##bits(to, from, step, count, 8, back)                       \
               : n == 9                ? narrow_rows_##bits(to, from, step, count, 9, back)                       \
               : n == 10               ? narrow_rows_##bits(to, from, step, count, 10, back)                      \
               : n == 11               ? narrow_rows_##bits(to, from, step, count, 11, back)                      \
               : n == 12               ? narrow_rows_##bits(to, from, step, count, 12, back)                      \
               : n == 13               ? narrow_rows_##bits(to, from, step, count, 13, back)                      \
               : n == 14               ? narrow_rows_##bits(to, from, step, count, 14, back)                      \
                                       : narrow_rows_##bits(to, from, step, count, 15, back);                     \
    }

TRANSPOSE_NARROW(32, VF32_LANES)
TRANSPOSE_NARROW(64, VF64_LANES)

/* Exchanges the bits of `mask` in b with those of a that are `shift` above them. */
INLINE void exchange(vu64 *a, vu64 *b, int shift, uint64_t mask) {
    vu64 both = ((*a >> shift) ^ *b) & mask;
    *b ^= both;
    *a ^= both << shift;
}

/* Transposes 8 / size rows of `words` words of 8 bytes each, at most VF64_LANES, of elements of 1 or 2 bytes. Each word
 * is a row of a square of elements; three or two rounds of exchanges transpose all squares. */
INLINE void transpose_words(char *to, int64_t to_step, const char *from, int64_t from_step, int words, int size) {
    vu64 x[8];
    int rows = 8 / size;
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        const uint64_t *at = (const uint64_t *)(from + i * from_step);
        x[i] = words == VF64_LANES ? vu64_load(at) : vu64_load_partial(at, words, vu64_set(0));
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        if (!(i & rows / 2)) {
            exchange(&x[i], &x[i + rows / 2], 32, 0x00000000ffffffff);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        if (!(i & rows / 4)) {
            exchange(&x[i], &x[i + rows / 4], 16, 0x0000ffff0000ffff);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows && size == 1; i += 2) {
        exchange(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ff);
    }
#pragma GCC unroll 8
    for (int word = 0; word < VF64_LANES && word < words; word++) {
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            uint64_t column = x[i][word];
            __builtin_memcpy(to + (word * rows + i) * to_step, &column, sizeof column);
        }
    }
}

/* Transposes a part that is at most one block: `height` rows of `width` elements, of 1 or 2 bytes whole words. */
INLINE void transpose_part(char *to, int64_t to_step, const char *from, int64_t from_step, int height, int width,
                           int size) {
    if (size < 4) {
        transpose_words(to, to_step, from, from_step, width * size / 8, size);
    } else if (size == 4 && height == VF32_LANES && width == VF32_LANES) {
        transpose_square_32(to, to_step, from, from_step);
    } else if (size == 4) {
        PATH_IF(VF32_LANES > 1, "transpose: part of a block of 4 bytes");
        transpose_edge_32(to, to_step, from, from_step, height, width);
    } else if (height == VF64_LANES && width == VF64_LANES) {
        transpose_square_64(to, to_step, from, from_step);
    } else {
        PATH_IF(VF64_LANES > 1, "transpose: part of a block of 8 bytes");
        transpose_edge_64(to, to_step, from, from_step, height, width);
    }
}

/* Transposes blocks, in the order of squares of whole lines and of bands of columns, so that all blocks of a line are
 * read and written while it is in L1. */
INLINE void transpose_blocks(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                             int64_t columns, int size) {
    int height = size < 4    ? 8 / size
                 : size == 4 ? VF32_LANES
                             : VF64_LANES,
        width = size < 4 ? height * VF64_LANES : height;
    int64_t line = LINE / size;
    for (int64_t band = 0; band < columns; band += BAND) {
        int64_t end = min_int64(band + BAND, columns);
        PATH_IF(band > 0, "transpose: another band");
        for (int64_t row = 0; row < rows; row += line) {
            int64_t r_end = min_int64(row + line, rows);
            for (int64_t c = band; c < end; c += width) {
                for (int64_t r = row; r < r_end; r += height) {
                    transpose_part(to + c * to_step + r * size, to_step, from + r * from_step + c * size, from_step,
                                   (int)min_int64(r_end - r, height), (int)min_int64(end - c, width), size);
                }
            }
        }
    }
}

void transpose(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t columns,
               int32_t size) {
    if (HAS_NARROW && size >= 4 && columns > 1 && columns <= NARROW && from_step == columns * size) {
        PATH_IF(HAS_NARROW, "transpose: narrow rows");
        int64_t done = size == 4 ? transpose_narrow_32(to, from, to_step, rows, columns, 0)
                                 : transpose_narrow_64(to, from, to_step, rows, columns, 0);
        to += done * size;
        from += done * from_step;
        rows -= done;
    } else if (HAS_NARROW && size >= 4 && rows > 1 && rows <= NARROW && to_step == rows * size) {
        PATH_IF(HAS_NARROW, "transpose: to narrow rows");
        int64_t done = size == 4 ? transpose_narrow_32(to, from, from_step, columns, rows, 1)
                                 : transpose_narrow_64(to, from, from_step, columns, rows, 1);
        to += done * to_step;
        from += done * size;
        columns -= done;
    }
    int64_t unit = size < 4 ? 8 / size : 1, whole_rows = rows, whole_columns = columns;
    if (rows < FEW || columns < FEW) { /* copied along the others */
        whole_rows = rows < columns ? 0 : rows;
        whole_columns = rows < columns ? columns : 0;
    } else {
        whole_rows = rows / unit * unit;
        whole_columns = columns / unit * unit;
    }
    for (int64_t r = whole_rows; r < rows; r++) {
        PATH("transpose: a row by itself");
        copy_strided(to + r * size, to_step, from + r * from_step, size, whole_columns, size);
    }
    for (int64_t c = whole_columns; c < columns; c++) {
        PATH("transpose: a column by itself");
        copy_strided(to + c * to_step, size, from + c * size, from_step, rows, size);
    }
    if (whole_rows == 0 || whole_columns == 0) {
        return;
    }
    if (size == 1) {
        transpose_blocks(to, to_step, from, from_step, whole_rows, whole_columns, 1);
    } else if (size == 2) {
        transpose_blocks(to, to_step, from, from_step, whole_rows, whole_columns, 2);
    } else if (size == 4) {
        transpose_blocks(to, to_step, from, from_step, whole_rows, whole_columns, 4);
    } else {
        transpose_blocks(to, to_step, from, from_step, whole_rows, whole_columns, 8);
    }
}
