/* Convolution of groups with few output channels, directly. The input channels of a group are copied to planes, padded
 * with zeros, a band of rows at a time. With a horizontal stride s, a row of a plane has s phases, each with every s-th
 * column, so that a tap reads adjacent elements for adjacent results. The results of a tile are summed in registers,
 * tap by tap, in the order of conv_compute_strip(). */
#pragma once

#include "window.h"

enum {
    PLANES_BYTES = 1 << 15, /* of a band, if it then has PLANES_ROWS rows of results: within L1 */
    PLANES_MOST = 1 << 18,  /* otherwise: within L2 */
    PLANES_ROWS = 16,       /* fewer copy too many rows twice */
    PLANES_TAPS = 1024,     /* of an output channel, at most */
    PLANES_TILE = 4         /* vectors of a row of a tile, at most, and rows */
};

typedef struct conv_planes {
    const lw_window_layout *layout;
    const char *x, *weight, *bias; /* bias may be NULL */
    char *out;
    int64_t channels, taps;    /* of a group; of an output channel, in all its input channels */
    int64_t width, row, plane; /* elements of a phase, of a row with all phases, and of a channel's band */
    int64_t band, bands;       /* rows of results of a band, and bands of an image */
    int64_t count, per_task;   /* bands of all images and groups */
    element *planes;           /* of each task: `channels` of them */
} conv_planes;

/* The taps of an output channel: where they are in the planes, and their weights. */
typedef struct plane_taps {
    int32_t offset[PLANES_TAPS];
    element factor[PLANES_TAPS];
} plane_taps;

/* Copies rows first, first + 1 ... of the channels of a group to the planes, from an image that is at x. */
static void planes_fill(const conv_planes *s, const char *x, int64_t first, element *planes) {
    const lw_window_layout *w = s->layout;
    int64_t rows = s->plane / s->row, phases = s->row / s->width, step = w->stride[1] * w->strides[0][3];
    for (int64_t at = 0; at < s->channels * rows; at++) {
        int64_t y = first + at % rows;
        const char *from = x + at / rows * w->strides[0][1] + y * w->strides[0][2];
        element *to = planes + at * s->row;
        for (int64_t f = 0; f < phases; f++, to += s->width) {
            index_range inside = window_inside(f - w->padding[1], w->stride[1], s->width, w->in_size[1]);
            if (y < 0 || y >= w->in_size[0]) {
                inside = (index_range){0, 0};
            }
            for (int64_t i = 0; i < inside.begin; i++) {
                to[i] = 0;
            }
            copy_strided((char *)(to + inside.begin), ELEMENT_SIZE,
                         from + (f - w->padding[1]) * w->strides[0][3] + inside.begin * step, step,
                         inside.end - inside.begin, ELEMENT_SIZE);
            for (int64_t i = inside.end; i < s->width; i++) {
                to[i] = 0;
            }
        }
    }
}

/* Computes a tile of `rows` rows of results, `vectors` vectors wide, with n columns. */
INLINE void planes_tile(const conv_planes *s, const element *x, const plane_taps *taps, const char *bias, char *to,
                        int64_t n, int rows, int vectors) {
    const int64_t *out = s->layout->strides[3];
    int64_t step = s->layout->stride[0] * s->row;
    vec sum[PLANES_TILE][PLANES_TILE];
    for (int r = 0; r < rows; r++) {
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = v_set(0);
        }
    }
    for (int64_t t = 0; t < s->taps; t++) {
        vec factor = v_set(taps->factor[t]);
        const element *from = x + taps->offset[t];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                sum[r][v] = v_fma(factor, v_load(from + r * step + v * LANES), sum[r][v]);
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        element result[PLANES_TILE * LANES];
        for (int v = 0; v < vectors; v++) {
            v_store(result + v * LANES, bias ? sum[r][v] + v_set(element_load(bias)) : sum[r][v]);
        }
        copy_strided(to + r * out[2], out[3], (const char *)result, ELEMENT_SIZE, n, ELEMENT_SIZE);
    }
}

/* Computes `rows` rows of results. */
INLINE void planes_rows(const conv_planes *s, const element *x, const plane_taps *taps, const char *bias, char *to,
                        int rows) {
    int64_t columns = s->layout->out_size[1], step = s->layout->strides[3][3], j = 0;
    for (; columns - j > 3 * LANES; j += PLANES_TILE * LANES) {
        PATH_EITHER(rows > 1, "planes: several rows of four vectors", "planes: a row of four vectors");
        int64_t n = min_int64(columns - j, PLANES_TILE * LANES);
        planes_tile(s, x + j, taps, bias, to + j * step, n, rows, PLANES_TILE);
    }
    if (columns - j > LANES) {
        PATH_EITHER(rows > 1, "planes: several rows of up to three vectors", "planes: a row of up to three vectors");
        planes_tile(s, x + j, taps, bias, to + j * step, columns - j, rows, columns - j > 2 * LANES ? 3 : 2);
    } else if (columns > j) {
        PATH_EITHER(rows > 1, "planes: several rows of a vector", "planes: a row of a vector");
        planes_tile(s, x + j, taps, bias, to + j * step, columns - j, rows, 1);
    }
}

/* Computes the results of a band of an image for one output channel. */
static void planes_channel(const conv_planes *s, const element *planes, int64_t channel, plane_taps *taps, char *to,
                           int64_t rows) {
    const lw_window_layout *w = s->layout;
    const int64_t *step = w->strides[1], *size = w->kernel_size;
    const char *bias = s->bias ? s->bias + channel * w->strides[2][0] : NULL;
    for (int64_t t = 0; t < s->taps; t++) {
        int64_t c = t % s->channels, q = t / s->channels % size[1], p = t / s->channels / size[1];
        taps->factor[t] = element_load(s->weight + channel * step[0] + c * step[1] + p * step[2] + q * step[3]);
    }
    int64_t i = 0, down = w->stride[0] * s->row;
    for (; i + PLANES_TILE <= rows && w->out_size[1] <= 2 * LANES; i += PLANES_TILE) {
        planes_rows(s, planes + i * down, taps, bias, to + i * w->strides[3][2], PLANES_TILE);
    }
    for (; i + 2 <= rows; i += 2) {
        planes_rows(s, planes + i * down, taps, bias, to + i * w->strides[3][2], 2);
    }
    if (i < rows) {
        planes_rows(s, planes + i * down, taps, bias, to + i * w->strides[3][2], 1);
    }
}

static lw_status planes_task(lw_context *context, int64_t task, const void *argument) {
    const conv_planes *s = argument;
    const lw_window_layout *w = s->layout;
    int64_t end = min_int64((task + 1) * s->per_task, s->count), per_group = w->out_channels / w->groups;
    element *planes = s->planes + task * s->channels * s->plane;
    plane_taps taps;
    for (int64_t t = 0; t < s->taps; t++) {
        int64_t c = t % s->channels, q = t / s->channels % w->kernel_size[1] * w->dilation[1];
        int64_t p = t / s->channels / w->kernel_size[1] * w->dilation[0];
        taps.offset[t] = (int32_t)(c * s->plane + p * s->row + q % w->stride[1] * s->width + q / w->stride[1]);
    }
    for (int64_t index = task * s->per_task; index < end; index++) {
        int64_t first = index % s->bands * s->band, group = index / s->bands % w->groups;
        int64_t image = index / s->bands / w->groups, rows = min_int64(w->out_size[0] - first, s->band);
        PATH_IF(first > 0, "planes: another band");
        const char *x = s->x + image * w->strides[0][0] + group * s->channels * w->strides[0][1];
        planes_fill(s, x, first * w->stride[0] - w->padding[0], planes);
        for (int64_t channel = group * per_group; channel < (group + 1) * per_group; channel++) {
            char *to = s->out + image * w->strides[3][0] + channel * w->strides[3][1] + first * w->strides[3][2];
            planes_channel(s, planes, channel, &taps, to, rows);
        }
    }
    return LW_OK;
}

/* Chooses the bands. Returns 0 if a group has too many channels or taps for planes. */
static int planes_start(conv_planes *s, int64_t tasks) {
    const lw_window_layout *w = s->layout;
    int64_t reach = (w->kernel_size[1] - 1) * w->dilation[1], down = (w->kernel_size[0] - 1) * w->dilation[0] + 1;
    s->channels = w->in_channels / w->groups;
    s->taps = s->channels * w->kernel_size[0] * w->kernel_size[1];
    s->width = round_up(w->out_size[1], LANES) + reach / w->stride[1];
    s->row = s->width * w->stride[1];
    int64_t bytes = s->channels * s->row * ELEMENT_SIZE; /* of a row of all channels */
    if (s->taps == 0 || s->taps > PLANES_TAPS || bytes * down > PLANES_MOST) {
        return 0;
    }
    int64_t band = (PLANES_BYTES / bytes - down) / w->stride[0] + 1;
    band = band < PLANES_ROWS ? (PLANES_MOST / bytes - down) / w->stride[0] + 1 : band;
    int64_t share = divide_up(w->out_size[0] * w->batch * w->groups, tasks > 1 ? tasks : 1); /* rows for each task */
    band = share < band ? share : band;
    s->bands = divide_up(w->out_size[0], band);
    s->band = divide_up(w->out_size[0], s->bands);
    s->plane = ((s->band - 1) * w->stride[0] + down) * s->row;
    s->count = s->bands * w->batch * w->groups;
    return 1;
}
