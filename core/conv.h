/* Convolution, by one of three algorithms:
 *
 * 1. As a matrix product (implicit im2col). A holds the weight, B the patches of the images, and a row of C one output
 *    channel. B[(c, p, q), (image, i, j)] is the element of channel c that is multiplied by weight (p, q) for result
 *    (i, j) of the image. B is never stored as a matrix: its panels are packed directly from x or, if their elements
 *    are adjacent in x, read in place by the first tile, which copies them. A large image is one product per group; on
 *    several threads, each task computes a part of its columns. Small images share products, to amortize packing A and
 *    to fill whole panels of B. In the output, the columns of different images are not adjacent, so a shared product is
 *    computed in scratch memory and copied.
 * 2. Directly, from padded planes (conv_planes.h). Used if a group has few output channels, which would leave rows of
 *    the micro-kernel unused, or if the weight or the output has strides that a matrix cannot have.
 * 3. Directly, in strips of results: if memory for the planes is not available, if a channel has too many taps for
 *    them, and in pages.
 *
 * A tap is one position (p, q) in the window.
 *
 * All multiply padding like any other zeros, so an infinite weight times padding is NaN. */
#pragma once

#include "conv_planes.h"
#include "gemm/gemm_packed.h"
#include "window.h"

enum {
    CONV_MIN_ROWS = 4,  /* a group with fewer output channels is computed directly, */
    CONV_FEW_ROWS = 6,  /* and one with so many, if its window has several taps */
    CONV_CHANNELS = 16, /* output channels whose strips are computed together */
    CONV_TAPS = 16,     /* maximum taps that are packed together */
    CONV_COLUMNS = 512, /* small images share a product until it has this many columns, to amortize its fixed cost */
    /* Minimum columns of a part of an image. The task of each part packs the weight, which takes as long as
     * GRID_PACKING columns of results: at most 6 % of its time. */
    CONV_PART_COLUMNS = 128,
    CONV_TASKS = 8 /* per thread, so that a slow thread delays the others by less than an eighth of the time */
};

typedef struct conv {
    const lw_window_layout *layout;
    gemm product;    /* for the first image and the first group; conv_product() adapts a copy to its images and group */
    int64_t x_group; /* bytes from one group of channels of x to the next */
    int64_t images;  /* images per product */
    int64_t products, per_task;
    int64_t parts, part_columns; /* tasks per product, if a product is divided among several; columns of each */
} conv;

/* What `source` in a gemm points to: the images of one product, from which conv_pack packs B. */
typedef struct conv_images {
    const lw_window_layout *layout;
    const char *x;
    int64_t first_column; /* the result that the product's column 0 computes */
} conv_images;

/* Taps that conv_pack collects, to pack them together. It collects a tap if the tap's elements for all columns of a
 * panel are adjacent in x. */
typedef struct conv_taps {
    int64_t count;
    int64_t number[CONV_TAPS], from[CONV_TAPS]; /* row-major index in the window; byte offset in a channel */
    element_bits inside[CONV_TAPS][GEMM_NR];    /* as in window_tap */
} conv_taps;

/* Returns whether all columns of a panel are adjacent in x for this tap. */
INLINE int conv_is_adjacent(const window_tap *tap) {
    return tap->runs == 1 && tap->run[0].count == GEMM_NR && tap->strip->step == sizeof(element);
}

INLINE void conv_add_tap(conv_taps *taps, const window_tap *tap, int64_t number) {
    int64_t t = taps->count++;
    taps->number[t] = number;
    taps->from[t] = tap->run[0].from;
    for (int64_t c = 0; c < GEMM_NR; c += LANES) {
        b_store(taps->inside[t] + c, b_load(tap->inside + c));
    }
}

/* Packs the taps that conv_pack has collected, channel by channel. In this order B is written front to back, and
 * elements of x that several taps of a channel read stay in L1. */
static void conv_pack_taps(conv_taps *taps, const gemm *g, int64_t first_row, int64_t depth, element *to) {
    const conv_images *images = g->source;
    const lw_window_layout *w = images->layout;
    int64_t all = w->kernel_size[0] * w->kernel_size[1], channel = first_row / all;
    for (int64_t row = channel * all - first_row; row < depth; row += all, channel++) {
        const char *x = images->x + channel * w->strides[0][1];
        for (int64_t t = 0; t < taps->count; t++) {
            int64_t p = row + taps->number[t];
            if (p < 0 || p >= depth) {
                continue;
            }
            const element *from = (const element *)(x + taps->from[t]);
            for (int64_t c = 0; c < GEMM_NR; c += LANES) {
                PATH("conv: packs collected taps");
                window_mask(to + p * GEMM_NR + c, v_load(from + c), taps->inside[t] + c);
            }
        }
    }
    taps->count = 0;
}

/* Packs a panel of B: the function `pack_b` of a convolution's gemm. */
static void conv_pack(const gemm *g, int64_t first_row, int64_t depth, int64_t first_column, element *to) {
    const conv_images *images = g->source;
    const lw_window_layout *w = images->layout;
    int64_t taps = w->kernel_size[0] * w->kernel_size[1], stride = w->strides[0][1];
    window_strip strip;
    window_tap tap;
    conv_taps pending;
    window_strip_start(&strip, w, images->first_column + first_column, min_int64(g->n - first_column, GEMM_NR));
    pending.count = 0;
    for (int64_t t = 0; t < taps; t++) {
        int64_t p = t / w->kernel_size[1], q = t % w->kernel_size[1];
        if (q == 0) {
            window_tap_row(&tap, &strip, p);
        }
        /* The first channel whose row of B for this tap is at or after first_row. */
        int64_t channel = first_row > t ? divide_up(first_row - t, taps) : 0;
        int64_t row = channel * taps + t - first_row;
        if (row >= depth) {
            continue;
        }
        window_tap_start(&tap, q);
        if (conv_is_adjacent(&tap)) {
            conv_add_tap(&pending, &tap, t);
            if (pending.count == CONV_TAPS) {
                PATH("conv: as many taps as are packed together");
                conv_pack_taps(&pending, g, first_row, depth, to);
            }
            continue;
        }
        PATH("conv: packs a tap by runs");
        for (const char *x = images->x + channel * stride; row < depth; row += taps, x += stride) {
            window_tap_read(&tap, x, to + row * GEMM_NR, GEMM_NR);
        }
    }
    conv_pack_taps(&pending, g, first_row, depth, to);
}

/* Lists where the rows of a panel begin in x, relative to the panel's first tap in channel 0. */
static void conv_list_rows(const conv_images *images, int64_t first_row, int64_t depth, gemm_rows *rows) {
    const lw_window_layout *w = images->layout;
    const int64_t *x = w->strides[0];
    int64_t taps = w->kernel_size[0] * w->kernel_size[1], channel = first_row / taps, t = first_row % taps;
    int64_t distance[GEMM_MASKS];
    for (int64_t each = 0; each < taps; each++) {
        distance[each] =
            each / w->kernel_size[1] * w->dilation[0] * x[2] + each % w->kernel_size[1] * w->dilation[1] * x[3];
    }
    for (int64_t p = 0; p < depth; p++) {
        rows->row[p] = (gemm_row){channel * x[1] + distance[t], rows->inside[t]};
        if (++t == taps) {
            t = 0;
            channel++;
        }
    }
    rows->first_row = first_row;
    rows->depth = depth;
}

/* Finds a panel of B in x: the function `find_b` of a convolution's gemm. For each tap, all columns of the panel have
 * to be adjacent in x; then the panel differs from x only by its padding. */
static const char *conv_find(const gemm *g, int64_t first_row, int64_t depth, int64_t first_column, gemm_rows *rows) {
    const conv_images *images = g->source;
    const lw_window_layout *w = images->layout;
    if (w->kernel_size[0] * w->kernel_size[1] > GEMM_MASKS) {
        return NULL;
    }
    window_strip strip;
    window_tap tap;
    int64_t from = 0;
    window_strip_start(&strip, w, images->first_column + first_column, GEMM_NR);
    for (int64_t t = 0, p = 0; p < w->kernel_size[0]; p++) {
        window_tap_row(&tap, &strip, p);
        for (int64_t q = 0; q < w->kernel_size[1]; q++, t++) {
            window_tap_start(&tap, q);
            if (!conv_is_adjacent(&tap)) {
                PATH("conv: packs a panel that is not adjacent in x");
                return NULL;
            }
            from = t == 0 ? tap.run[0].from : from;
            for (int64_t c = 0; c < GEMM_NR; c += LANES) {
                b_store(rows->inside[t] + c, b_load(tap.inside + c));
            }
        }
    }
    if (rows->first_row != first_row || rows->depth != depth) {
        conv_list_rows(images, first_row, depth, rows);
    }
    return images->x + from;
}

/* Copies a product of several images from scratch memory to the output. */
static void conv_store(const conv *all, const element *from, int64_t images, char *out) {
    const gemm *g = &all->product;
    for (int64_t row = 0; row < g->m; row++) {
        for (int64_t image = 0; image < images; image++, from += g->n) {
            copy_strided(out + row * g->c_row + image * all->layout->strides[3][0], g->c_column, (const char *)from,
                         sizeof(element), g->n, sizeof(element));
        }
    }
}

/* Returns the product for one image, or for this image and the following ones, and one group of channels. Initializes
 * *source, to which the product points. */
static gemm conv_product(const conv *all, int64_t image, int64_t group, conv_images *source) {
    const lw_window_layout *w = all->layout;
    gemm g = all->product;
    *source = (conv_images){w, (const char *)g.source + image * w->strides[0][0] + group * all->x_group, 0};
    g.source = source;
    g.a += group * g.m * g.a_row;
    if (g.bias) {
        g.bias += group * g.m * g.bias_row;
    }
    g.c += image * w->strides[3][0] + group * g.m * g.c_row;
    return g;
}

/* Computes the results of images image .. image + images - 1 for one group of channels. */
static lw_status conv_multiply(lw_context *context, const conv *all, int64_t image, int64_t images, int64_t group,
                               element *memory) {
    conv_images source;
    gemm g = conv_product(all, image, group, &source);
    char *out = g.c;
    if (images == 1) {
        PATH("conv: product of one image");
        return gemm_run(context, &g);
    }
    PATH("conv: product of several images");
    g.n *= images;
    g.c = (char *)memory;
    g.c_column = sizeof(element);
    g.c_row = g.n * (int64_t)sizeof(element);
    lw_status status = gemm_run(context, &g);
    if (status == LW_OK) {
        conv_store(all, memory, images, out);
    }
    return status;
}

static lw_status conv_task(lw_context *context, int64_t task, const void *argument) {
    const conv *all = argument;
    const lw_window_layout *w = all->layout;
    int64_t first = task * all->per_task, end = min_int64(first + all->per_task, all->products), together = all->images;
    size_t bytes = (size_t)(all->product.m * all->product.n * together) * sizeof(element);
    element *memory = together > 1 ? allocate_scratch(context, bytes) : NULL;
    if (!memory) {
        PATH_IF(together > 1, "conv: no memory for several images");
        together = 1;
    }
    lw_status status = LW_OK;
    for (int64_t product = first; product < end && status == LW_OK; product++) {
        int64_t image = product / w->groups * all->images, last = min_int64(image + all->images, w->batch);
        for (; image < last && status == LW_OK; image += together) {
            status = conv_multiply(context, all, image, min_int64(together, last - image), product % w->groups, memory);
        }
    }
    release_scratch(context, memory);
    return status;
}

/* Computes a range of columns of one image's product. */
static lw_status conv_part_task(lw_context *context, int64_t task, const void *argument) {
    const conv *all = argument;
    int64_t groups = all->layout->groups, product = task / all->parts, first = task % all->parts * all->part_columns;
    conv_images source;
    gemm g = conv_product(all, product / groups, product % groups, &source);
    PATH_IF(first > 0, "conv: a later part of an image");
    source.first_column = first;
    g.c += first * g.c_column;
    g.n = min_int64(g.n - first, all->part_columns);
    return gemm_run(context, &g);
}

typedef struct conv_strips {
    const lw_window_layout *layout;
    const char *x, *weight, *bias; /* bias may be NULL */
    char *out;
    int64_t results;  /* results per output channel, in all images together */
    int64_t blocks;   /* blocks of CONV_CHANNELS output channels */
    int64_t count;    /* pairs of a strip and a block */
    int64_t per_task; /* pairs that a task computes */
} conv_strips;

/* Computes a strip of results for `rows` output channels. Each window_tap is computed once for all these channels. */
static void conv_compute_strip(const conv_strips *s, const window_strip *strip, int64_t first, int64_t rows,
                               element result[][WINDOW_STRIP]) {
    const lw_window_layout *w = s->layout;
    const int64_t *step = w->strides[1];
    int64_t channels = w->in_channels / w->groups, per_group = w->out_channels / w->groups;
    int64_t width = round_up(strip->count, LANES);
    element buffer[WINDOW_STRIP];
    window_tap tap;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t v = 0; v < width; v += LANES) {
            v_store(result[r] + v, v_set(0));
        }
    }
    for (int64_t p = 0; p < w->kernel_size[0]; p++) {
        window_tap_row(&tap, strip, p);
        for (int64_t q = 0; q < w->kernel_size[1]; q++) {
            window_tap_start(&tap, q);
            for (int64_t r = 0; r < rows; r++) {
                const char *weight = s->weight + (first + r) * step[0] + p * step[2] + q * step[3];
                const char *x = s->x + (first + r) / per_group * channels * w->strides[0][1];
                for (int64_t c = 0; c < channels; c++) {
                    vec factor = v_set(element_load(weight + c * step[1]));
                    window_tap_read(&tap, x + c * w->strides[0][1], buffer, width);
                    for (int64_t v = 0; v < width; v += LANES) {
                        v_store(result[r] + v, v_fma(factor, v_load(buffer + v), v_load(result[r] + v)));
                    }
                }
            }
        }
    }
    for (int64_t r = 0; s->bias && r < rows; r++) {
        vec bias = v_set(element_load(s->bias + (first + r) * w->strides[2][0]));
        for (int64_t v = 0; v < width; v += LANES) {
            v_store(result[r] + v, v_load(result[r] + v) + bias);
        }
    }
}

static lw_status conv_strips_task(lw_context *context, int64_t task, const void *argument) {
    const conv_strips *s = argument;
    const lw_window_layout *w = s->layout;
    const int64_t *out = w->strides[3];
    int64_t end = min_int64((task + 1) * s->per_task, s->count);
    for (int64_t index = task * s->per_task; index < end; index++) {
        int64_t number = index / s->blocks * WINDOW_STRIP, first = index % s->blocks * CONV_CHANNELS, part;
        int64_t rows = min_int64(w->out_channels - first, CONV_CHANNELS);
        PATH_IF(first > 0, "conv: another block of channels");
        PATH_IF(number > 0, "conv: another strip");
        window_strip strip;
        element result[CONV_CHANNELS][WINDOW_STRIP];
        window_strip_start(&strip, w, number, min_int64(s->results - number, WINDOW_STRIP));
        conv_compute_strip(s, &strip, first, rows, result);
        for (int64_t done = 0; done < strip.count; done += part, number += part) {
            int64_t j = number % w->out_size[1], i = number / w->out_size[1] % w->out_size[0];
            int64_t image = number / w->out_size[1] / w->out_size[0];
            char *to = s->out + image * out[0] + first * out[1] + i * out[2] + j * out[3];
            part = min_int64(w->out_size[1] - j, strip.count - done);
            for (int64_t r = 0; r < rows; r++) {
                copy_strided(to + r * out[1], out[3], (const char *)(result[r] + done), sizeof(element), part,
                             sizeof(element));
            }
        }
    }
    return LW_OK;
}

static lw_status conv_by_strips(lw_context *context, const lw_window_layout *w, const void *const *inputs,
                                void *const *outputs) {
    conv_strips s = {.layout = w, .x = inputs[0], .weight = inputs[1], .bias = inputs[2], .out = outputs[0]};
    s.results = w->batch * w->out_size[0] * w->out_size[1];
    s.blocks = divide_up(w->out_channels, CONV_CHANNELS);
    s.count = divide_up(s.results, WINDOW_STRIP) * s.blocks;
    s.per_task = items_per_task(context, s.count, 1);
    return run_tasks(context, divide_up(s.count, s.per_task), conv_strips_task, &s);
}

static lw_status conv_directly(lw_context *context, const lw_window_layout *w, const void *const *inputs,
                               void *const *outputs) {
    conv_planes s = {.layout = w, .x = inputs[0], .weight = inputs[1], .bias = inputs[2], .out = outputs[0]};
    if (!IS_DOWNLOADED && planes_start(&s, context->tasks)) {
        s.per_task = items_per_task(context, s.count, 1);
        int64_t tasks = divide_up(s.count, s.per_task);
        s.planes = allocate_scratch(context, (size_t)(tasks * s.channels * s.plane) * sizeof *s.planes);
        if (s.planes) {
            PATH_IF(!IS_DOWNLOADED, "conv: by planes");
            lw_status status = run_tasks(context, tasks, planes_task, &s);
            release_scratch(context, s.planes);
            return status;
        }
    }
    PATH("conv: by strips");
    return conv_by_strips(context, w, inputs, outputs);
}

static lw_status conv_run(lw_context *context, const lw_window_layout *w, const void *const *inputs,
                          void *const *outputs) {
    const int64_t *weight = w->strides[1], *out = w->strides[3];
    int64_t channels = w->in_channels / w->groups, taps = channels * w->kernel_size[0] * w->kernel_size[1];
    conv all = {.layout = w, .x_group = channels * w->strides[0][1]};
    all.product = (gemm){
        .m = w->out_channels / w->groups,
        .n = w->out_size[0] * w->out_size[1],
        .k = taps,
        .a = inputs[1],
        .bias = inputs[2],
        .c = outputs[0],
        .a_row = weight[0],
        .a_column = weight[3],
        .bias_row = w->strides[2][0],
        .c_row = out[1],
        .c_column = out[3],
        .pack_b = conv_pack,
        .find_b = GEMM_COPIES_B ? conv_find : NULL,
        .source = inputs[0],
    };
    if (w->batch == 0 || all.product.m == 0 || all.product.n == 0) {
        return LW_OK;
    }
    int weight_is_matrix = (weight[2] == w->kernel_size[1] * weight[3] || w->kernel_size[0] == 1) &&
                           (weight[1] == w->kernel_size[0] * w->kernel_size[1] * weight[3] || channels == 1);
    int out_is_matrix = out[2] == w->out_size[1] * out[3] || w->out_size[0] == 1;
    int has_few = !IS_DOWNLOADED && all.product.m <= CONV_FEW_ROWS && taps > channels;
    if (all.product.m < CONV_MIN_ROWS || has_few || !weight_is_matrix || !out_is_matrix) {
        return conv_directly(context, w, inputs, outputs);
    }
    double work = gemm_work(&all.product);
    /* At most this many images are computed in one product, so that it is small enough for one task. */
    int64_t max_images = work >= GEMM_SMALL_WORK ? 1 : (int64_t)(GEMM_SMALL_WORK / (work + 1));
    all.images = min_int64(min_int64(1 + (CONV_COLUMNS - 1) / all.product.n, max_images), w->batch);
    all.products = divide_up(w->batch, all.images) * w->groups;
    work *= (double)all.images;
    if (context->threads > 1 && work >= GEMM_SMALL_WORK) { /* so all.images == 1 */
        int64_t parts = min_int64(1 + CONV_TASKS * context->threads / all.products, all.product.n / CONV_PART_COLUMNS);
        if (parts > 0 && parts * all.products >= context->threads) {
            PATH("conv: parts of images");
            all.part_columns = round_up(divide_up(all.product.n, parts), GEMM_NR);
            all.parts = divide_up(all.product.n, all.part_columns);
            return run_tasks(context, all.parts * all.products, conv_part_task, &all);
        }
    }
    /* Large products run one after another in a single task here, and each splits itself into tasks; small ones are
     * grouped, several per task. */
    int is_split = work >= (all.products < GEMM_MANY_PRODUCTS ? GEMM_SMALL_WORK : GEMM_LARGE_WORK);
    all.per_task = is_split ? all.products : items_per_task(context, all.products, 1);
    return run_tasks(context, divide_up(all.products, all.per_task), conv_task, &all);
}
