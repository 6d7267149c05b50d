/* Rotary position embedding: rotates pairs of a row's elements by angles proportional to the row's position.
 *
 * Pair i at position p is rotated by the angle p * first_angle * ratio^i, where first_angle is that of pair 0 at
 * position 1. The cosines and sines are computed from those of the previous position by one complex product in float64,
 * once for all rows at a position. After a million positions they are accurate to 1e-10, and large angles lose no
 * digits. */
#pragma once

#include "element.h"
#include "layout/layout_iterator.h"
#include "layout/strided.h"
#include "math/double.h"

enum {
    ROTATION_PAIRS = 64,   /* pairs processed at once */
    ROTATION_RUN = 1 << 15 /* pairs per run, at whose start angles are computed exactly, to bound the error */
};

typedef struct rotation {
    const lw_layout *layout; /* its last two dimensions are the positions, and the elements of a row */
    const char *x;
    char *out;
    double ratio, first_angle; /* the angle of pair i grows by first_angle * ratio^i per position */
    int64_t offset;
    int64_t run;      /* positions per run; results depend on where runs begin */
    int64_t per_task; /* positions per task, in whole runs */
    int adjacent;     /* whether pair i is elements 2i and 2i + 1; else it is i and i + length / 2 */
} rotation;

/* The cosines and sines of some pairs' angles at one position, and of the angles' increments per position. */
typedef struct rotation_angles {
    double cosine[ROTATION_PAIRS + LANES], sine[ROTATION_PAIRS + LANES];
    double step_cosine[ROTATION_PAIRS + LANES], step_sine[ROTATION_PAIRS + LANES];
    element c[ROTATION_PAIRS + LANES], s[ROTATION_PAIRS + LANES]; /* cosine and sine, rounded */
} rotation_angles;

static void rotation_start(rotation_angles *t, const rotation *r, int64_t position, int64_t first, int64_t count) {
    PATH_IF(first > 0, "rotation: another group of pairs");
    PATH_IF(position > r->offset, "rotation: a task begins after the first position");
    double frequency = r->first_angle;
    for (int64_t i = 0; i < first; i++) {
        frequency *= r->ratio;
    }
    for (int64_t i = 0; i < count; i++, frequency *= r->ratio) {
        double_sincos(frequency, &t->step_cosine[i], &t->step_sine[i]);
        double_sincos((double)position * frequency, &t->cosine[i], &t->sine[i]);
    }
}

/* Rounds the cosines and sines of the current position to c and s, then computes those of the next position. */
static void rotation_next(rotation_angles *t, int64_t count) {
    for (int64_t i = 0; i < count; i += LANES) {
        vdouble c = d_load(t->cosine + i), s = d_load(t->sine + i);
        vdouble by_c = d_load(t->step_cosine + i), by_s = d_load(t->step_sine + i);
        v_store(t->c + i, v_from_double(c));
        v_store(t->s + i, v_from_double(s));
        d_store(t->cosine + i, c * by_c - s * by_s);
        d_store(t->sine + i, s * by_c + c * by_s);
    }
}

/* Rotates the pairs in the lanes of a and b. */
INLINE void rotation_lanes(const rotation_angles *t, int64_t i, vec *a, vec *b) {
    vec c = v_load(t->c + i), s = v_load(t->s + i), x = *a, y = *b;
    *a = v_fma(x, c, -(y * s));
    *b = v_fma(y, c, x * s);
}

/* Rotates `count` pairs in place. The elements of a pair are at the same index of `first` and `second`, or adjacent in
 * `first`. The buffers have room for whole vectors. */
static void rotation_pairs(const rotation_angles *t, int adjacent, int64_t count, element *first, element *second) {
    PATH_EITHER(adjacent, "rotation: adjacent pairs", "rotation: split pairs");
    for (int64_t i = 0; i < count; i += LANES) {
        vec a, b;
        if (adjacent) {
            element *both = first + 2 * i;
            vec low = v_load(both), high = v_load(both + LANES);
            a = v_even(low, high), b = v_odd(low, high);
            rotation_lanes(t, i, &a, &b);
            v_store(both, v_zip_low(a, b));
            v_store(both + LANES, v_zip_high(a, b));
        } else {
            a = v_load(first + i), b = v_load(second + i);
            rotation_lanes(t, i, &a, &b);
            v_store(first + i, a);
            v_store(second + i, b);
        }
    }
}

/* Rotates pairs first .. first + count - 1 of one row. */
static void rotation_row(const rotation *r, const rotation_angles *t, int64_t first, int64_t count, const char *x,
                         char *out) {
    const lw_layout *l = r->layout;
    int64_t from = l->strides[0][l->ndim - 1], to = l->strides[1][l->ndim - 1], half = l->shape[l->ndim - 1] / 2;
    element buffer[2][2 * (ROTATION_PAIRS + LANES)];
    int64_t parts = r->adjacent ? 1 : 2, elements = 2 * count / parts, start = r->adjacent ? 2 * first : first;
    for (int64_t p = 0; p < parts; p++) {
        copy_strided((char *)buffer[p], sizeof(element), x + (start + p * half) * from, from, elements,
                     sizeof(element));
    }
    rotation_pairs(t, r->adjacent, count, buffer[0], buffer[1]);
    for (int64_t p = 0; p < parts; p++) {
        copy_strided(out + (start + p * half) * to, to, (const char *)buffer[p], sizeof(element), elements,
                     sizeof(element));
    }
}

/* Rotates all rows at positions begin .. end - 1. */
static void rotation_positions(const rotation *r, int64_t begin, int64_t end) {
    const lw_layout *l = r->layout;
    int32_t outer = l->ndim - 2;
    int64_t pairs = l->shape[outer + 1] / 2, rows = layout_count(l, 0, outer);
    rotation_angles t = {0};
    for (int64_t first = 0; first < pairs; first += ROTATION_PAIRS) {
        int64_t count = min_int64(pairs - first, ROTATION_PAIRS);
        rotation_start(&t, r, begin + r->offset, first, count);
        for (int64_t position = begin; position < end; position++) {
            rotation_next(&t, count);
            layout_iterator it;
            iterator_start(&it, l, 0, outer, 2, 0);
            for (int64_t row = 0; row < rows; row++, iterator_next(&it)) {
                rotation_row(r, &t, first, count, r->x + it.offset[0] + position * l->strides[0][outer],
                             r->out + it.offset[1] + position * l->strides[1][outer]);
            }
        }
    }
}

static lw_status rotation_task(lw_context *context, int64_t task, const void *argument) {
    const rotation *r = argument;
    int64_t begin = task * r->per_task, end = min_int64(begin + r->per_task, r->layout->shape[r->layout->ndim - 2]);
    for (; begin < end; begin += r->run) {
        rotation_positions(r, begin, min_int64(begin + r->run, end));
    }
    return LW_OK;
}

static lw_status rotation_run(lw_context *context, rotation *r) {
    const lw_layout *l = r->layout;
    int64_t positions = l->shape[l->ndim - 2], at_each = layout_count(l, 0, l->ndim - 2) * l->shape[l->ndim - 1] / 2;
    if (at_each == 0 || positions == 0) {
        return LW_OK;
    }
    r->run = divide_up(ROTATION_RUN, at_each);
    r->per_task = items_per_task(context, positions, r->run);
    return run_tasks(context, divide_up(positions, r->per_task), rotation_task, r);
}
