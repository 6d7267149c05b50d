/* Scaled dot product attention, softmax(scale Q K^T + mask) V, for every index of the batch.
 *
 * Online softmax: keys are processed in blocks. For each query, the kernel keeps the largest score so far, the sum of
 * the weights exp(score - largest), and the sum of the values multiplied by these weights. When a block contains a
 * larger score, both sums are rescaled. Memory use does not grow with the number of keys. Sources: Milakov and
 * Gimelshein, Online Normalizer Calculation for Softmax, 2018 (arXiv:1805.02867); Dao et al., FlashAttention, 2022
 * (arXiv:2205.14135).
 *
 * Queries are divided into chunks, and chunks into blocks. For each chunk, the kernel iterates over the blocks of keys.
 * It packs the keys and values of a block once, then multiplies them by each block of queries: the GEMM micro-kernel
 * computes both the scores and the weighted sums. A block of queries skips the blocks of keys that none of its queries
 * sees. If there are few queries, and the rows of keys and values are contiguous, GEMM reads the keys and values
 * without packing.
 *
 * If a query does not see a key, the key and its value are hidden from it, and the score is -inf. The result of a query
 * that sees no keys is zeros, as in PyTorch. Hidden keys and values have no effect, even if they are NaN or infinite:
 * see attention_recompute_row. */
#pragma once

#include "gemm/gemm_packed.h"
#include "math/exp.h"

enum {
    ATTENTION_ROWS = 48,          /* queries per block; a multiple of GEMM_MR on every instruction set */
    ATTENTION_MAX_BLOCKS = 16,    /* blocks of queries per chunk; they share packed keys and values */
    ATTENTION_KEYS = 128,         /* keys per block; ATTENTION_ROWS x ATTENTION_KEYS scores fit in L1 */
    ATTENTION_UNPACKED_KEYS = 512 /* keys per block of attention_unpacked */
};

typedef struct attention {
    const lw_attention_layout *layout;
    const void *const *inputs;
    char *out;
    int64_t chunks, rows;    /* chunks per index of the batch; queries per chunk */
    int64_t count, per_task; /* chunks in the whole batch; chunks per task */
    int64_t width;           /* columns of `sums`: value_depth rounded up to a multiple of GEMM_NR */
    int is_unpacked;         /* few queries, and contiguous rows of keys and values: packing would not pay */
} attention;

/* The state of one chunk. */
typedef struct attention_chunk {
    const lw_attention_layout *layout;
    const char *query, *key, *value, *mask; /* query and mask begin at the chunk's first query; mask may be NULL */
    char *out;
    int64_t first, rows, width; /* the chunk's queries are first .. first + rows - 1; `width` as in `attention` */
    element *queries;           /* the queries times the scale; packed, or row-major if is_unpacked */
    element *sums;              /* sums of weighted values, rows x width */
    element *largest, *total;   /* per row: the largest score, the sum of weights */
    element *keys, *values;     /* one packed block of keys and of values */
    element *scores, *weights;  /* a block's scores; its packed weights or, if is_unpacked, its weighted sums */
} attention_chunk;

/* Returns the range of keys that at least one of the queries first .. last sees, ignoring the mask. Positions in the
 * range are relative to key number `key`. */
static index_range attention_visible(const lw_attention_layout *l, int64_t first, int64_t last, int64_t key) {
    int64_t begin = first + l->first, end = min_int64(last + l->last + 1, l->keys);
    return (index_range){(begin > 0 ? begin : 0) - key, end - key};
}

/* Adds the mask to the scores in `range`, which covers whole vectors. Where the mask is -inf or the key is not in
 * `visible`, the score becomes -inf, even if it was NaN. */
static void attention_hide(const attention_chunk *c, int64_t row, element *scores, int64_t key, index_range range,
                           index_range visible) {
    int64_t step = c->layout->column_strides[3];
    const char *mask = c->mask ? c->mask + row * c->layout->row_strides[3] + key * step : NULL;
    int64_t begin = min_int64(visible.begin, range.end); /* bounded so that `first` fits in 32 bits */
    vbits first = b_set((element_bits)(begin > range.begin ? begin : range.begin));
    vbits end = b_set((element_bits)(visible.end > 0 ? min_int64(visible.end, range.end) : 0));
    const vec hidden = v_set(-__builtin_inff());
    for (int64_t i = range.begin; i < range.end; i += LANES) {
        vec score = v_load(scores + i);
        if (mask && visible.end > i) {
            element packed[LANES];
            int n = (int)min_int64(visible.end - i, LANES);
            copy_strided_inline((char *)packed, sizeof(element), mask + i * step, step, n, ELEMENT_SIZE);
            vec added = v_load_partial(packed, n, v_set(0));
            score = v_select(v_eq(added, hidden), hidden, score + added);
        }
        vbits column = b_iota() + b_set((element_bits)i);
        vmask inside = m_and(b_ge(column, first), b_lt(column, end));
        v_store(scores + i, v_select(inside, score, hidden));
    }
}

/* exp(x) for x <= 0. Where it would be denormal, the result is 0, because exp(x) is negligible next to the largest
 * weight, 1. NaN stays NaN. */
INLINE vec attention_exp(vec x) {
    const vec low = v_set(-EXP_NORMAL_BOUND);
    exp_parts parts = exp_reduce(v_at_least(x, low), v_set(EXPONENT_MAGIC));
    vec power = (exp_expm1(parts.r) + v_set(1)) * v_power_of_two(parts.k_magic);
    return v_select(v_lt(x, low), v_set(0), power);
}

/* Replaces the scores of a row with weights and adds these to the row's total. If a score is larger than all earlier
 * ones, rescales the row's sums and total so far. The search for the largest score ignores NaN, but the weight of a NaN
 * score is NaN, which makes the total NaN. */
static void attention_row(const attention_chunk *c, int64_t row, element *scores, int64_t key, index_range range) {
    index_range visible = attention_visible(c->layout, c->first + row, c->first + row, key);
    if (c->mask || visible.begin > range.begin || visible.end < range.end) {
        PATH_EITHER(c->mask, "attention: mask", "attention: hides keys");
        attention_hide(c, row, scores, key, range, visible);
    }
    vec maxima = v_set(c->largest[row]), total = v_set(0);
    for (int64_t i = range.begin; i < range.end; i += LANES) {
        vec score = v_load(scores + i);
        maxima = v_select(v_gt(score, maxima), score, maxima);
    }
    element previous = c->largest[row], largest = v_reduce_maximum(maxima);
    vec shift = v_set(largest == -__builtin_inff() ? 0 : largest); /* -inf - -inf would be NaN */
    for (int64_t i = range.begin; i < range.end; i += LANES) {
        vec weight = attention_exp(v_load(scores + i) - shift);
        total = total + weight;
        v_store(scores + i, weight);
    }
    element sum = v_reduce_add(total);
    PATH_IF(largest == previous, "attention: no larger score in a block");
    PATH_IF(key > 0 && largest != previous, "attention: a later block has a larger score");
    if (largest != previous) {
        vec scale = attention_exp(v_set(previous) - shift);
        element *sums = c->sums + row * c->width;
        for (int64_t i = 0; i < c->width; i += LANES) {
            v_store(sums + i, v_load(sums + i) * scale);
        }
        c->total[row] *= v_first(scale);
        c->largest[row] = largest;
    }
    c->total[row] += sum;
}

/* Processes the block of queries that begins at row `first` of the chunk, with the packed block of keys that begins at
 * `key`. */
static void attention_block(const attention_chunk *c, int64_t first, int64_t key, int64_t keys) {
    const lw_attention_layout *l = c->layout;
    int64_t rows = min_int64(c->rows - first, ATTENTION_ROWS), row_bytes = ATTENTION_KEYS * (int64_t)sizeof(element);
    index_range range = attention_visible(l, c->first + first, c->first + first + rows - 1, key);
    range.begin = range.begin > 0 ? range.begin : 0;
    range.end = min_int64(range.end, keys);
    if (range.begin >= range.end) {
        PATH("attention: no query of a block sees the keys");
        return;
    }
    for (int64_t j = range.begin / GEMM_NR * GEMM_NR; j < range.end; j += GEMM_NR) {
        for (int64_t i = 0; i < rows; i += GEMM_MR) {
            gemm_tile(l->depth, c->queries + (first + i) * l->depth, c->keys + j * l->depth,
                      (char *)(c->scores + i * ATTENTION_KEYS + j), row_bytes, GEMM_SET);
        }
    }
    range.begin = range.begin / LANES * LANES;
    range.end = round_up(range.end, LANES);
    for (int64_t i = 0; i < rows; i++) {
        attention_row(c, first + i, c->scores + i * ATTENTION_KEYS, key, range);
    }
    int64_t depth = min_int64(range.end, keys) - range.begin;
    for (int64_t i = 0; i < rows; i += GEMM_MR) {
        gemm_pack_a_panel(c->weights + i * depth, (const char *)(c->scores + i * ATTENTION_KEYS + range.begin),
                          row_bytes, sizeof(element), min_int64(rows - i, GEMM_MR), depth);
    }
    for (int64_t j = 0; j < c->width; j += GEMM_NR) {
        for (int64_t i = 0; i < rows; i += GEMM_MR) {
            gemm_tile(depth, c->weights + i * depth, c->values + j * ATTENTION_KEYS + range.begin * GEMM_NR,
                      (char *)(c->sums + (first + i) * c->width + j), c->width * (int64_t)sizeof(element), GEMM_ADD);
        }
    }
}

/* Processes all keys that the chunk's queries see, packing a block of keys and values at a time. Blocks begin at a
 * multiple of ATTENTION_KEYS and end there or at the last key, whatever the chunk is, so that results do not depend on
 * the division into chunks. */
static void attention_blocks(const attention_chunk *c, index_range visible) {
    const lw_attention_layout *l = c->layout;
    int64_t begin = visible.begin / ATTENTION_KEYS * ATTENTION_KEYS;
    for (int64_t key = begin; key < visible.end; key += ATTENTION_KEYS) {
        int64_t keys = min_int64(l->keys - key, ATTENTION_KEYS);
        PATH_IF(key > begin, "attention: another block of keys");
        PATH_IF(c->rows > ATTENTION_ROWS, "attention: several blocks of queries");
        for (int64_t j = 0; j < keys; j += GEMM_NR) {
            gemm_pack_b_panel(c->keys + j * l->depth, c->key + (key + j) * l->row_strides[1], l->row_strides[1],
                              l->column_strides[1], min_int64(keys - j, GEMM_NR), l->depth);
        }
        for (int64_t j = 0; j < c->width; j += GEMM_NR) {
            gemm_pack_b_panel(c->values + j * ATTENTION_KEYS,
                              c->value + key * l->row_strides[2] + j * l->column_strides[2], l->column_strides[2],
                              l->row_strides[2], min_int64(l->value_depth - j, GEMM_NR), keys);
        }
        for (int64_t first = 0; first < c->rows; first += ATTENTION_ROWS) {
            attention_block(c, first, key, keys);
        }
    }
}

/* Processes all keys that the chunk's queries see, without packing. */
static void attention_unpacked(const attention_chunk *c, index_range visible) {
    const lw_attention_layout *l = c->layout;
    for (int64_t key = visible.begin; key < visible.end; key += ATTENTION_UNPACKED_KEYS) {
        int64_t keys = min_int64(visible.end - key, ATTENTION_UNPACKED_KEYS);
        PATH_IF(key > visible.begin, "attention: another block of unpacked keys");
        gemm product = {
            .m = c->rows,
            .n = keys,
            .k = l->depth,
            .a = (const char *)c->queries,
            .a_row = l->depth * (int64_t)sizeof(element),
            .a_column = sizeof(element),
            .b = c->key + key * l->row_strides[1],
            .b_row = sizeof(element),
            .b_column = l->row_strides[1],
            .c = (char *)c->scores,
            .c_row = ATTENTION_UNPACKED_KEYS * sizeof(element),
            .c_column = sizeof(element),
        };
        unpacked_multiply(&product);
        index_range range = {0, round_up(keys, LANES)};
        for (int64_t i = 0; i < c->rows; i++) {
            attention_row(c, i, c->scores + i * ATTENTION_UNPACKED_KEYS, key, range);
        }
        product.n = l->value_depth;
        product.k = keys;
        product.a = (const char *)c->scores;
        product.a_row = product.c_row;
        product.b = c->value + key * l->row_strides[2];
        product.b_row = l->row_strides[2];
        product.b_column = sizeof(element);
        product.c = (char *)c->weights;
        product.c_row = c->width * (int64_t)sizeof(element);
        unpacked_multiply(&product);
        for (int64_t i = 0; i < c->rows * c->width; i += LANES) {
            v_store(c->sums + i, v_load(c->sums + i) + v_load(c->weights + i));
        }
    }
}

/* Packs the queries, or copies them if `is_unpacked`, scales them, and initializes `sums`, `largest` and `total`. */
static void attention_start(const attention_chunk *c, int is_unpacked) {
    const lw_attention_layout *l = c->layout;
    int64_t row = l->row_strides[0], column = l->column_strides[0], count = c->rows * l->depth;
    if (is_unpacked) {
        for (int64_t i = 0; i < c->rows; i++) {
            copy_strided((char *)(c->queries + i * l->depth), sizeof(element), c->query + i * row, column, l->depth,
                         sizeof(element));
        }
        /* The products write only the first value_depth columns of `weights`; the other columns must be zeros. */
        for (int64_t i = 0; i < c->rows * c->width; i += LANES) {
            v_store(c->weights + i, v_set(0));
        }
    } else {
        count = round_up(c->rows, GEMM_MR) * l->depth;
        for (int64_t i = 0; i < c->rows; i += GEMM_MR) {
            gemm_pack_a_panel(c->queries + i * l->depth, c->query + i * row, row, column,
                              min_int64(c->rows - i, GEMM_MR), l->depth);
        }
    }
    vec scale = v_set((element)l->scale);
    for (int64_t i = 0; i < count; i += LANES) {
        v_store(c->queries + i, v_load(c->queries + i) * scale);
    }
    for (int64_t i = 0; i < round_up(c->rows, GEMM_MR) * c->width; i += LANES) {
        v_store(c->sums + i, v_set(0));
    }
    for (int64_t i = 0; i < c->rows; i++) {
        c->largest[i] = -__builtin_inff();
        c->total[i] = 0;
    }
}

/* Computes a row of the result again, from visible keys only. GEMM multiplies hidden values by weight 0, which gives
 * NaN if a value is infinite or NaN. Each weight is divided by the total before the summation, so that sums do not
 * overflow. */
static void attention_recompute_row(const attention_chunk *c, int64_t row, element total) {
    const lw_attention_layout *l = c->layout;
    index_range visible = attention_visible(l, c->first + row, c->first + row, 0);
    element largest = c->largest[row] == -__builtin_inff() ? 0 : c->largest[row], *sums = c->sums + row * c->width;
    const char *q = c->query + row * l->row_strides[0];
    for (int64_t j = 0; j < l->value_depth; j++) {
        sums[j] = 0;
    }
    for (int64_t key = visible.begin; key < visible.end;) {
        element weights[ATTENTION_KEYS];
        const char *values[ATTENTION_KEYS];
        int count = 0; /* visible keys in this block */
        for (; key < visible.end && count < ATTENTION_KEYS; key++) {
            const char *k = c->key + key * l->row_strides[1];
            element score = 0, added = 0;
            if (c->mask) {
                added = *(const element *)(c->mask + row * l->row_strides[3] + key * l->column_strides[3]);
            }
            if (added == -__builtin_inff()) {
                continue;
            }
            for (int64_t i = 0; i < l->depth; i++) {
                score += *(const element *)(q + i * l->column_strides[0]) * (element)l->scale *
                         *(const element *)(k + i * l->column_strides[1]);
            }
            weights[count] = v_first(attention_exp(v_set(score + added - largest))) / total;
            values[count++] = c->value + key * l->row_strides[2];
        }
        for (int64_t j = 0; j < l->value_depth; j++) {
            element sum = 0;
            for (int i = 0; i < count; i++) {
                sum += weights[i] * *(const element *)(values[i] + j * l->column_strides[2]);
            }
            sums[j] += sum;
        }
    }
}

/* Divides the sums by the total weight and writes the results. A row with an infinite or NaN result is computed again
 * from visible keys only, because a hidden value or an overflow may have caused it. If the total is NaN, all results of
 * the row are NaN in any case. */
static void attention_finish(const attention_chunk *c) {
    const lw_attention_layout *l = c->layout;
    for (int64_t i = 0; i < c->rows; i++) {
        char *out = c->out + i * l->row_strides[4];
        element *sums = c->sums + i * c->width, whole = c->total[i] == 0 ? 1 : c->total[i];
        vec total = v_set(whole), differences = v_set(0); /* becomes NaN if a result is infinite or NaN */
        for (int64_t j = 0; j < c->width; j += LANES) {
            vec result = v_load(sums + j) / total;
            differences = differences + (result - result);
            v_store(sums + j, result);
        }
        if (m_any(v_isnan(differences)) && whole == whole) {
            PATH("attention: row computed again");
            attention_recompute_row(c, i, whole);
        }
        copy_strided(out, l->column_strides[4], (const char *)sums, sizeof(element), l->value_depth, sizeof(element));
    }
}

/* Reserves `count` elements of scratch memory, rounded up to 64 bytes, and adds them to `used`. If `memory` is NULL,
 * only updates `used`, to find out how much memory is needed. */
INLINE element *attention_carve(element *memory, int64_t *used, int64_t count) {
    element *part = memory ? memory + *used : NULL;
    *used += round_up(count, 16);
    return part;
}

/* Places the chunk's arrays in `memory`, and returns the number of elements they need. */
static int64_t attention_place_arrays(const attention *all, attention_chunk *c, element *memory) {
    const lw_attention_layout *l = all->layout;
    int64_t rows = min_int64(l->queries, all->rows), used = 0;
    int64_t tiles = round_up(rows, GEMM_MR);
    c->width = all->width;
    c->queries = attention_carve(memory, &used, tiles * l->depth);
    c->sums = attention_carve(memory, &used, tiles * all->width);
    c->largest = attention_carve(memory, &used, rows);
    c->total = attention_carve(memory, &used, rows);
    if (all->is_unpacked) {
        c->scores = attention_carve(memory, &used, rows * ATTENTION_UNPACKED_KEYS);
        c->weights = attention_carve(memory, &used, rows * all->width);
    } else {
        c->scores = attention_carve(memory, &used, ATTENTION_ROWS * ATTENTION_KEYS);
        c->weights = attention_carve(memory, &used, ATTENTION_ROWS * ATTENTION_KEYS);
        c->keys = attention_carve(memory, &used, ATTENTION_KEYS * l->depth);
        c->values = attention_carve(memory, &used, ATTENTION_KEYS * all->width);
    }
    return used;
}

static lw_status attention_task(lw_context *context, int64_t task, const void *argument) {
    const attention *all = argument;
    const lw_attention_layout *l = all->layout;
    attention_chunk c = {.layout = l};
    size_t bytes = (size_t)attention_place_arrays(all, &c, NULL) * sizeof(element);
    element *memory = allocate_scratch(context, bytes);
    if (!memory) {
        return LW_NO_MEMORY;
    }
    attention_place_arrays(all, &c, memory);
    int64_t end = min_int64((task + 1) * all->per_task, all->count);
    for (int64_t index = task * all->per_task; index < end; index++) {
        layout_iterator it;
        iterator_start(&it, &l->batch, 0, l->batch.ndim, 5, index / all->chunks);
        c.first = index % all->chunks * all->rows;
        c.rows = min_int64(l->queries - c.first, all->rows);
        c.query = (const char *)all->inputs[0] + it.offset[0] + c.first * l->row_strides[0];
        c.key = (const char *)all->inputs[1] + it.offset[1];
        c.value = (const char *)all->inputs[2] + it.offset[2];
        c.mask = all->inputs[3];
        if (c.mask) {
            c.mask += it.offset[3] + c.first * l->row_strides[3];
        }
        c.out = all->out + it.offset[4] + c.first * l->row_strides[4];
        index_range visible = attention_visible(l, c.first, c.first + c.rows - 1, 0);
        attention_start(&c, all->is_unpacked);
        PATH_IF(c.first > 0, "attention: another chunk of queries");
        if (all->is_unpacked) {
            PATH("attention: unpacked");
            attention_unpacked(&c, visible);
        } else {
            PATH("attention: packed");
            attention_blocks(&c, visible);
        }
        attention_finish(&c);
    }
    release_scratch(context, memory);
    return LW_OK;
}

/* Returns how many blocks of queries a chunk should have, if `batch` times `blocks` blocks are divided among threads:
 * as many as give the busiest thread the least work, which includes packing the keys for each chunk. Many threads get
 * smaller chunks, as small as take at most an eighth longer; a thread that is fast, or early, then takes over chunks of
 * one that is not. So do threads with few chunks that are uneven, because later queries see more keys. The costs are
 * those of a grid of products. */
static int64_t attention_chunk_blocks(int64_t blocks, int64_t batch, int64_t threads, int is_uneven) {
    int64_t chunks = divide_up(blocks, ATTENTION_MAX_BLOCKS), best = divide_up(blocks, chunks), least = INT64_MAX;
    for (; threads > 1 && chunks <= blocks && batch * chunks <= threads * GRID_MAX_BLOCKS; chunks++) {
        int64_t each = divide_up(blocks, chunks), shared = divide_up(batch * divide_up(blocks, each), threads);
        int64_t time = shared * (each * ATTENTION_ROWS + GRID_PACKING);
        int64_t margin = is_uneven || threads >= GRID_MANY_THREADS ? least / 8 : -1;
        if (least == INT64_MAX || time <= least + margin) {
            best = each;
            least = min_int64(time, least);
        }
    }
    return best;
}

static lw_status attention_run(lw_context *context, const lw_attention_layout *l, const void *const *inputs,
                               void *const *outputs) {
    attention all = {.layout = l, .inputs = inputs, .out = outputs[0]};
    all.width = round_up(l->value_depth, GEMM_NR);
    all.is_unpacked =
        l->queries <= UNPACKED_MR && l->column_strides[1] == sizeof(element) && l->column_strides[2] == sizeof(element);
    int64_t batch = layout_count(&l->batch, 0, l->batch.ndim);
    if (batch == 0 || l->queries == 0 || l->value_depth == 0) {
        return LW_OK;
    }
    int64_t blocks = divide_up(l->queries, ATTENTION_ROWS);
    int is_uneven = l->last < l->keys - 1 && batch < 2 * context->threads;
    all.rows = ATTENTION_ROWS * attention_chunk_blocks(blocks, batch, context->threads, is_uneven);
    all.chunks = divide_up(l->queries, all.rows);
    all.count = batch * all.chunks;
    all.per_task = items_per_task(context, all.count, 1);
    return run_tasks(context, divide_up(all.count, all.per_task), attention_task, &all);
}
