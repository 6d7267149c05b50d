/* Eigenvalues and eigenvectors of symmetric matrices, computed in float64 and rounded at the end.
 *
 * 1. Householder reflections make the matrix tridiagonal: A = Q T Q^T.
 * 2. Implicit QL steps with Wilkinson's shift make T diagonal. Each step is a sweep of Givens rotations. The same
 *    rotations, applied to the rows of Q^T, turn these rows into the eigenvectors.
 * Sources: Golub and Van Loan, Matrix Computations, 4th edition, 2013, sections 8.3.1 and 8.3.3; Bowdler, Martin,
 * Reinsch and Wilkinson, The QR and QL Algorithms for Symmetric Matrices, 1968.
 *
 * All vector loops run along contiguous rows, padded with zeros to a multiple of EIGEN_GROUP. A dot product is divided
 * into EIGEN_GROUP partial sums on every instruction set, and no multiply-add is fused, so results are bit-identical
 * everywhere. */
#pragma once

#include "element.h"
#include "layout/layout_iterator.h"
#include "layout/strided.h"

enum {
    EIGEN_GROUP = 16,      /* partial sums per dot product */
    EIGEN_SWEEP = 1 << 20, /* a sweep that rotates at least this many elements is divided into tasks. Fewer stay in a
                            * core's cache, unless tasks move them: eigh of 512 rows would take twice as long */
    EIGEN_COLUMNS = 64,    /* columns of Q^T per task of a divided sweep: few enough that the parts of all rows in these
                            * columns stay in the cache */
    EIGEN_CHECKS = 8,      /* tasks of steps per task of the call, if tasks only allow checks for Ctrl-C */
    EIGEN_STEPS = 60       /* limit of QL steps per eigenvalue; 2 usually suffice */
};

typedef struct eigen {
    int64_t n, width;      /* rows; elements per row in memory */
    double *a;             /* first the matrix; then row i is the Householder vector of step i */
    double *z;             /* first Q^T; then the eigenvectors, as rows. NULL if they are not needed */
    double *d, *e;         /* the diagonal of T; e[i] is the element between d[i] and d[i + 1] */
    double *h;             /* half the squared length of each Householder vector; 0 if a step needs no reflection */
    double *q;             /* a scratch vector */
    double *c, *s;         /* cosines and sines of a sweep's rotations */
    double unit;           /* a power of two: A is the matrix divided by it, so that squares are in range */
    int64_t i;             /* the current step of tridiagonalization or accumulation */
    int64_t first, last;   /* a sweep rotates rows (last, last + 1), then (last - 1, last) ... to (first, first + 1) */
    int64_t task_elements; /* the most elements of A or Q^T that a task of a step works on */
    int64_t per_task;
} eigen;

/* Returns the dot product of two vectors of `width` elements. */
static double eigen_dot(const double *x, const double *y, int64_t width) {
    enum { VECTORS = EIGEN_GROUP / VF64_LANES };
    vf64 sum[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        sum[v] = vf64_set(0);
    }
    for (int64_t k = 0; k < width; k += EIGEN_GROUP) {
        for (int v = 0; v < VECTORS; v++) {
            sum[v] = sum[v] + vf64_load(x + k + v * VF64_LANES) * vf64_load(y + k + v * VF64_LANES);
        }
    }
    double parts[EIGEN_GROUP];
    for (int v = 0; v < VECTORS; v++) {
        vf64_store(parts + v * VF64_LANES, sum[v]);
    }
    for (int n = EIGEN_GROUP / 2; n; n /= 2) {
        for (int k = 0; k < n; k++) {
            parts[k] += parts[k + n];
        }
    }
    return parts[0];
}

/* to -= x a + y b, for vectors to, a and b of `width` elements. */
static void eigen_subtract(double *to, double x, const double *a, double y, const double *b, int64_t width) {
    vf64 factor = vf64_set(x), other = vf64_set(y);
    for (int64_t k = 0; k < width; k += VF64_LANES) {
        vf64_store(to + k, vf64_load(to + k) - (factor * vf64_load(a + k) + other * vf64_load(b + k)));
    }
}

/* Stores d[i], e[i - 1] and, in row i of A, the Householder vector v of step i. The reflection by v makes elements
 * 0 .. i - 2 of that row zero. Returns half the squared length of v, or 0 without storing v if these elements are zero
 * already. */
static double eigen_reflection(eigen *m) {
    int64_t i = m->i;
    double *row = m->a + i * m->width, beyond = 0, neighbor = row[i - 1], length, half;
    for (int64_t k = 0; k < i - 1; k++) {
        beyond += row[k] * row[k];
    }
    m->d[i] = row[i];
    m->e[i - 1] = neighbor;
    if (beyond == 0) {
        PATH("eigen: no reflection");
        return 0;
    }
    length = __builtin_sqrt(beyond + neighbor * neighbor);
    if (neighbor > 0) {
        length = -length;
    }
    m->e[i - 1] = length;
    half = beyond + neighbor * neighbor - neighbor * length;
    row[i - 1] = neighbor - length;
    for (int64_t k = i; k < m->width; k++) {
        row[k] = 0;
    }
    return half;
}

static int64_t eigen_end(const eigen *m, int64_t task) { return min_int64((task + 1) * m->per_task, m->i); }

/* q = A v / h, with the Householder vector v of step i (row i of A) and its h[i]. */
static lw_status eigen_product_task(lw_context *context, int64_t task, const void *argument) {
    const eigen *m = argument;
    for (int64_t j = task * m->per_task; j < eigen_end(m, task); j++) {
        m->q[j] = eigen_dot(m->a + j * m->width, m->a + m->i * m->width, round_up(m->i, EIGEN_GROUP)) / m->h[m->i];
    }
    return LW_OK;
}

/* A -= v q^T + q v^T, with the Householder vector v of step i. */
static lw_status eigen_update_task(lw_context *context, int64_t task, const void *argument) {
    const eigen *m = argument;
    const double *v = m->a + m->i * m->width;
    for (int64_t j = task * m->per_task; j < eigen_end(m, task); j++) {
        eigen_subtract(m->a + j * m->width, v[j], m->q, m->q[j], v, round_up(m->i, EIGEN_GROUP));
    }
    return LW_OK;
}

/* Q^T -= (Q^T v) v^T / h, with the Householder vector v of step i and its h[i]. */
static lw_status eigen_accumulate_task(lw_context *context, int64_t task, const void *argument) {
    const eigen *m = argument;
    const double *v = m->a + m->i * m->width;
    int64_t width = round_up(m->i, EIGEN_GROUP);
    for (int64_t j = task * m->per_task; j < eigen_end(m, task); j++) {
        double *row = m->z + j * m->width;
        eigen_subtract(row, eigen_dot(row, v, width) / m->h[m->i], v, 0, v, width);
    }
    return LW_OK;
}

/* Applies a sweep's rotations to the task's columns of Q^T. */
static lw_status eigen_rotate_task(lw_context *context, int64_t task, const void *argument) {
    const eigen *m = argument;
    int64_t begin = task * m->per_task, end = min_int64(begin + m->per_task, m->width);
    for (int64_t r = m->last; r >= m->first; r--) {
        double *low = m->z + r * m->width, *high = low + m->width;
        vf64 c = vf64_set(m->c[r]), s = vf64_set(m->s[r]);
        for (int64_t k = begin; k < end; k += VF64_LANES) {
            vf64 x = vf64_load(low + k), y = vf64_load(high + k);
            vf64_store(high + k, s * x + c * y);
            vf64_store(low + k, c * x - s * y);
        }
    }
    return LW_OK;
}

/* Runs a task function over rows 0 .. i - 1 of A or Q^T, where i is the current step. */
static lw_status eigen_rows(lw_context *context, eigen *m, lw_task *eigen_rows_task) {
    m->per_task = divide_up(m->i, 1 + m->i * m->width / m->task_elements);
    return run_tasks(context, divide_up(m->i, m->per_task), eigen_rows_task, m);
}

/* Decomposes A into Q T Q^T. Stores T in d and e, and the Householder vectors, which define Q, in A. */
static lw_status eigen_tridiagonal(lw_context *context, eigen *m) {
    for (m->i = m->n - 1; m->i > 0; m->i--) {
        const double *v = m->a + m->i * m->width;
        double half = eigen_reflection(m);
        m->h[m->i] = half;
        if (half == 0) {
            continue;
        }
        for (int64_t k = m->i; k < m->width; k++) {
            m->q[k] = 0;
        }
        lw_status status = eigen_rows(context, m, eigen_product_task);
        if (status != LW_OK) {
            return status;
        }
        double along = eigen_dot(v, m->q, round_up(m->i, EIGEN_GROUP)) / (2 * half);
        eigen_subtract(m->q, along, v, 0, v, round_up(m->i, EIGEN_GROUP));
        status = eigen_rows(context, m, eigen_update_task);
        if (status != LW_OK) {
            return status;
        }
    }
    m->d[0] = m->a[0];
    return LW_OK;
}

/* Computes Q^T from the Householder vectors. */
static lw_status eigen_accumulate(lw_context *context, eigen *m) {
    for (int64_t k = 0; k < m->n * m->width; k++) {
        m->z[k] = 0;
    }
    for (int64_t k = 0; k < m->n; k++) {
        m->z[k * m->width + k] = 1;
    }
    for (m->i = 1; m->i < m->n; m->i++) {
        lw_status status = m->h[m->i] == 0 ? LW_OK : eigen_rows(context, m, eigen_accumulate_task);
        if (status != LW_OK) {
            return status;
        }
    }
    return LW_OK;
}

/* Applies one implicit QL step to rows first .. last of T. Stores rotation i, of rows i and i + 1, in m->c[i] and
 * m->s[i], and the first and the last such i in m->first and m->last.
 *
 * The divisor r is never 0, because f * f never underflows. Let L be the largest |d[k]| + |e[k]| before the first
 * step. In rows first .. last - 1, |e[i]| is larger than 2^-53 L (see eigen_diagonal), and |s| >= |e[i]| / (K L) for
 * a constant K < 100, because the shift is within 3 L of d[first]. So |f| > 2^-113 L. As L is at least 2^-150, half of
 * the smallest positive float32, or the size of the smallest float64 divided by `unit`, f * f is far from underflow. */
static void eigen_step(eigen *m, int64_t first, int64_t last) {
    double *d = m->d, *e = m->e, c = 1, s = 1, left = 0;
    double g = (d[first + 1] - d[first]) / (2 * e[first]), r = __builtin_sqrt(g * g + 1);
    g = d[last] - d[first] + e[first] / (g + (g < 0 ? -r : r));
    for (int64_t i = last - 1; i >= first; i--) {
        double f = s * e[i], b = c * e[i];
        e[i + 1] = r = __builtin_sqrt(f * f + g * g);
        m->s[i] = s = f / r;
        m->c[i] = c = g / r;
        g = d[i + 1] - left;
        r = (d[i] - g) * s + 2 * c * b;
        left = s * r;
        d[i + 1] = g + left;
        g = c * r - b;
    }
    m->first = first;
    m->last = last - 1;
    d[first] -= left;
    e[first] = g;
    e[last] = 0;
}

/* Makes T diagonal and, unless z is NULL, turns the rows of z into the eigenvectors. An element e[k] counts as zero if
 * |e[k]| is at most 2^-53 times the largest |d[i]| + |e[i]| at the start. If EIGEN_STEPS steps do not suffice for an
 * eigenvalue, which has not been observed, d[0] becomes NaN. */
static lw_status eigen_diagonal(lw_context *context, eigen *m) {
    double threshold = 0;
    m->e[m->n - 1] = 0;
    for (int64_t k = 0; k < m->n; k++) {
        double row = __builtin_fabs(m->d[k]) + __builtin_fabs(m->e[k]);
        threshold = row > threshold ? row : threshold;
    }
    threshold *= 0x1p-53;
    for (int64_t first = 0; first < m->n; first++) {
        for (int steps = 0;; steps++) {
            int64_t last = first;
            while (last < m->n - 1 && __builtin_fabs(m->e[last]) > threshold) {
                last++;
            }
            if (last == first) {
                break;
            }
            if (steps == EIGEN_STEPS) {
                m->d[0] = __builtin_nan("");
                return LW_OK;
            }
            eigen_step(m, first, last);
            if (!m->z) {
                continue;
            }
            m->per_task = (m->last - m->first) * m->width < EIGEN_SWEEP ? m->width : EIGEN_COLUMNS;
            lw_status status = run_tasks(context, divide_up(m->width, m->per_task), eigen_rotate_task, m);
            if (status != LW_OK) {
                return status;
            }
        }
    }
    return LW_OK;
}

/* Returns the unit for a matrix whose largest element has this size: a power of two near it, whose inverse is a normal
 * number. The squares of float32 are in range anyway. */
static double eigen_unit(double largest) {
#ifdef IS_64BIT
    int64_t bits;
    __builtin_memcpy(&bits, &largest, sizeof bits);
    int64_t exponent = bits >> MANTISSA_BITS;
    exponent = exponent < 50 ? 50 : min_int64(exponent, 2000);
    return element_from_bits(exponent << MANTISSA_BITS);
#else
    return 1;
#endif
}

/* Copies the lower triangle of x to both triangles of A. Returns whether all elements of the triangle are finite. */
static int eigen_read(eigen *m, const char *x, int64_t row, int64_t column) {
    double differences = 0, largest = 0;
    for (int64_t k = 0; k < m->n * m->width; k++) {
        m->a[k] = 0;
    }
    for (int64_t i = 0; i < m->n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double value = (double)element_load(x + i * row + j * column);
            differences += value - value; /* adds 0 if the value is finite, else NaN */
            largest = __builtin_fabs(value) > largest ? __builtin_fabs(value) : largest;
            m->a[i * m->width + j] = m->a[j * m->width + i] = value;
        }
    }
    m->unit = eigen_unit(largest);
    for (int64_t k = 0; k < m->n * m->width && m->unit != 1; k++) {
        m->a[k] *= 1 / m->unit;
    }
    return differences == 0;
}

static void eigen_store(char *to, double value) {
    element rounded = (element)value;
    __builtin_memcpy(to, &rounded, sizeof rounded);
}

/* Writes the results in ascending order of eigenvalues. Uses the memory of q to sort. */
static void eigen_write(eigen *m, const lw_matrix_layout *l, char *values, char *vectors) {
    int64_t *order = (int64_t *)m->q;
    for (int64_t k = 0; k < m->n; k++) {
        int64_t position = k;
        for (; position > 0 && m->d[order[position - 1]] > m->d[k]; position--) {
            order[position] = order[position - 1];
        }
        order[position] = k;
    }
    for (int64_t k = 0; k < m->n; k++) {
        eigen_store(values + k * l->column_strides[1], m->d[order[k]] * m->unit);
        for (int64_t i = 0; vectors && i < m->n; i++) {
            eigen_store(vectors + i * l->row_strides[2] + k * l->column_strides[2], m->z[order[k] * m->width + i]);
        }
    }
}

typedef struct eigen_batch {
    const lw_matrix_layout *layout; /* operands: x, eigenvalues, eigenvectors */
    const char *x;
    char *values, *vectors; /* vectors may be NULL */
    int64_t count, per_task, task_elements;
} eigen_batch;

/* Decomposes one matrix. If an element of its lower triangle is infinite or NaN, or if EIGEN_STEPS steps do not
 * suffice, all results are NaN. */
static lw_status eigen_decompose(lw_context *context, eigen *m, const eigen_batch *b, const int64_t *offset) {
    const lw_matrix_layout *l = b->layout;
    char *vectors = b->vectors ? b->vectors + offset[2] : NULL;
    lw_status status = LW_OK;
    int finite = eigen_read(m, b->x + offset[0], l->row_strides[0], l->column_strides[0]);
    if (finite) {
        status = eigen_tridiagonal(context, m);
        status = status == LW_OK && vectors ? eigen_accumulate(context, m) : status;
        status = status == LW_OK ? eigen_diagonal(context, m) : status;
    }
    if (!finite || m->d[0] != m->d[0]) {
        PATH("eigen: not finite");
        for (int64_t k = 0; k < m->n; k++) {
            m->d[k] = __builtin_nan("");
        }
        for (int64_t k = 0; vectors && k < m->n * m->width; k++) {
            m->z[k] = __builtin_nan("");
        }
    }
    if (status == LW_OK) {
        eigen_write(m, l, b->values + offset[1], vectors);
    }
    return status;
}

static lw_status eigen_task(lw_context *context, int64_t task, const void *argument) {
    const eigen_batch *b = argument;
    const lw_matrix_layout *l = b->layout;
    int64_t n = l->n, width = round_up(n, EIGEN_GROUP), matrices = b->vectors ? 2 : 1;
    double *memory = allocate_scratch(context, (size_t)((matrices * n + 6) * width) * 8);
    if (!memory) {
        return LW_NO_MEMORY;
    }
    double *vectors = memory + matrices * n * width;
    eigen m = {.n = n, .width = width, .a = memory, .z = b->vectors ? memory + n * width : NULL};
    m.task_elements = b->task_elements;
    m.d = vectors;
    m.e = vectors + width;
    m.h = vectors + 2 * width;
    m.q = vectors + 3 * width;
    m.c = vectors + 4 * width;
    m.s = vectors + 5 * width;
    layout_iterator it;
    int64_t first = task * b->per_task, end = min_int64(first + b->per_task, b->count);
    iterator_start(&it, &l->batch, 0, l->batch.ndim, 3, first);
    lw_status status = LW_OK;
    for (int64_t i = first; i < end && status == LW_OK; i++, iterator_next(&it)) {
        status = eigen_decompose(context, &m, b, it.offset);
    }
    release_scratch(context, memory);
    return status;
}

/* Each task decomposes one or more small matrices. Large matrices are decomposed one after another in a single task
 * here, and each divides its steps into tasks. A matrix is large if a step works on more elements than a task should;
 * all tasks of the call together work on n^3 elements per matrix. */
static lw_status eigen_of_symmetric(lw_context *context, const lw_matrix_layout *l, const void *x, void *values,
                                    void *vectors) {
    eigen_batch b = {.layout = l, .x = x, .values = values, .vectors = vectors};
    b.count = layout_count(&l->batch, 0, l->batch.ndim);
    if (b.count == 0 || l->n == 0) {
        return LW_OK;
    }
    int64_t tasks = context->threads > 1 ? context->tasks : context->tasks * EIGEN_CHECKS;
    b.task_elements = context->tasks > 1 ? divide_up(b.count * l->n * l->n * l->n, tasks) : INT64_MAX;
    b.per_task = l->n * round_up(l->n, EIGEN_GROUP) <= b.task_elements ? items_per_task(context, b.count, 1) : b.count;
    return run_tasks(context, divide_up(b.count, b.per_task), eigen_task, &b);
}
