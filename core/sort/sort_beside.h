/* Sorts short rows side by side (rows.c): a network compares and exchanges whole lines of the tile, so each vector has
 * an element of LANES rows. Compares floats themselves; rows with NaN or -0, whose order does not follow from comparing
 * them, are sorted by rank. Included by sort_numbers.h.
 *
 * Source: Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M (Batcher's merge exchange). */
#pragma once

#include "reduce/row.h"

enum {
    /* Longest row: a network for n elements has about n log2(n)^2 / 4 comparisons. Rank sort takes ambiguous rows. */
    SORT_BESIDE = SORT_SHORT < 64 ? SORT_SHORT : 64,
    SORT_ROWS_BESIDE = SIMD_PARTITION ? LANES : 4 /* fewest rows; below, quicksort leaves fewer lanes idle than this */
};

#if IS_FLOATING
#define sort_lesser v_at_most
#define sort_greater v_at_least
#else
#define sort_lesser v_minimum
#define sort_greater v_maximum
#endif

/* Moves the lesser of each two elements to the line `first`. */
INLINE void sort_exchange_lines(char *first, char *second, int64_t width) {
    element *low = (element *)first, *high = (element *)second;
    for (int64_t i = 0; i < width; i += LANES) {
        vec x = v_load(low + i), y = v_load(high + i);
        v_store(low + i, sort_lesser(x, y));
        v_store(high + i, sort_greater(x, y));
    }
}

static void sort_network(char *lines, int64_t pitch, int64_t length, int64_t width, int descending) {
    int64_t top = 1;
    while (2 * top < length) {
        top *= 2;
    }
    for (int64_t p = top; p > 0; p /= 2) {
        int64_t r = 0, distance = p;
        for (int64_t q = top;; q /= 2) {
            for (int64_t i = 0; i + distance < length; i++) {
                if ((i & p) == r) {
                    char *first = lines + i * pitch, *second = first + distance * pitch;
                    sort_exchange_lines(descending ? second : first, descending ? first : second, width);
                }
            }
            if (q == p) {
                break;
            }
            distance = q - p;
            r = p;
        }
    }
}

/* Sorts one row by rank. Copies it first, because the result may take its place. */
static void sort_short_row(const row *r) {
    element x[SORT_BESIDE];
    copy_strided((char *)x, sizeof *x, r->in[0].data, r->in[0].stride, r->length, sizeof *x);
    sort_row s = {.x = (const char *)x, .out = r->out_data, .x_stride = sizeof *x, .out_stride = r->out.stride};
    s.length = s.count = r->length;
    s.flip = (element_bits)r->parameters->i;
    sort_by_rank(&s);
}

#if !IS_FLOATING
static void sort_flip_lines(char *lines, int64_t pitch, int64_t length, int64_t width, element_bits flip) {
    for (int64_t i = 0; i < length && flip; i++) {
        element_bits *line = (element_bits *)(lines + i * pitch);
        for (int64_t j = 0; j < width; j += LANES) {
            b_store(line + j, b_xor(b_load(line + j), b_set(flip)));
        }
    }
}
#endif

/* Sorts rows. Their only parameter is the flip of a sort_row. */
static void sort_rows_beside(const row *r) {
    char *lines = r->out_data;
    int64_t pitch = r->out.stride;
    element_bits flip = (element_bits)r->parameters->i;
#if IS_FLOATING
    int has_ambiguous = 0;
    for (int64_t i = 0; i < r->width; i += LANES) {
        vmask ambiguous = m_set(0);
        for (int64_t j = 0; j < r->length; j++) {
            vec x = v_load((const element *)(lines + j * pitch) + i);
            ambiguous |= v_ne(x, x) | b_eq(v_bits(x), b_set(BITS_MIN));
        }
        has_ambiguous |= m_any(ambiguous);
    }
    PATH_EITHER(has_ambiguous, "sort: ambiguous values side by side", "sort: side by side");
    if (has_ambiguous) {
        row one = *r;
        for (int64_t i = 0; i < r->width; i++) {
            one.in[0].data = one.out_data = lines + i * ELEMENT_SIZE;
            sort_short_row(&one);
        }
        return;
    }
    sort_network(lines, pitch, r->length, r->width, flip != 0);
#else
    PATH("sort: side by side");
    sort_flip_lines(lines, pitch, r->length, r->width, flip);
    sort_network(lines, pitch, r->length, r->width, 0);
    sort_flip_lines(lines, pitch, r->length, r->width, flip);
#endif
}

static const row_kernel sort_short_rows = {sort_short_row, sort_rows_beside, 1, ELEMENT_SIZE};
