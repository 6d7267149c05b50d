/* Resolves calls of scaled_dot_product_attention. Leading dimensions broadcast. With enable_gqa, the last leading
 * dimension counts heads, and several query heads share one head of key and value. */
#include "call/execute.h"
#include "lanewise_operations.h"
#include <string.h>

enum { QUERY, KEY, VALUE, MASK, RESULT };
enum { IS_CAUSAL, SCALE, ENABLE_GQA, WINDOW, OFFSET }; /* the parameters, in the contract's order */

static int refuse(const lw_operand *a, const lw_operand *b, const char *rule) {
    return lw_refuse(LW_SHAPE_ERROR, "expected %s, got shapes %s and %s", rule, lw_shape_text(a->ndim, a->shape),
                     lw_shape_text(b->ndim, b->shape));
}

static int check_shapes(const lw_operation *operation, const lw_operand *operands) {
    const lw_operand *query = &operands[QUERY], *key = &operands[KEY], *value = &operands[VALUE];
    for (int i = QUERY; i <= VALUE; i++) {
        if (operands[i].ndim < 2) {
            return lw_refuse(LW_SHAPE_ERROR, "expected %s with at least 2 dimensions, got %d",
                             operation->inputs[i].name, operands[i].ndim);
        }
    }
    if (query->shape[query->ndim - 1] != key->shape[key->ndim - 1]) {
        return refuse(query, key, "query and key with the same last extent");
    }
    if (key->shape[key->ndim - 2] != value->shape[value->ndim - 2]) {
        return refuse(key, value, "as many values as keys");
    }
    return 0;
}

/* Returns the number of query heads that share a key head, 0 if there are no query heads, or -1 with an error set. */
static int64_t query_heads_per_key_head(const lw_operand *operands, int shared) {
    if (!shared) {
        return 1;
    }
    const lw_operand *query = &operands[QUERY];
    int64_t heads = query->ndim > 2 ? query->shape[query->ndim - 3] : -1;
    for (int i = KEY; i <= VALUE; i++) {
        const lw_operand *other = &operands[i];
        int64_t own = other->ndim > 2 ? other->shape[other->ndim - 3] : -1;
        if (heads < 0 || own < 1 || heads % own || own != operands[KEY].shape[operands[KEY].ndim - 3]) {
            refuse(query, other,
                   "shapes (..., heads, length, depth) with enable_gqa, equally many heads in key and value, and a "
                   "multiple of that number in query");
            return -1;
        }
    }
    return heads / operands[KEY].shape[operands[KEY].ndim - 3];
}

/* Sets the scale, and the first and last key that query i sees, both as offsets from i. */
static void set_scale_and_window(const lw_arguments *arguments, const lw_scalar *parameters,
                                 lw_attention_layout *layout) {
    int has_window = lw_has_parameter(arguments, "window");
    int64_t window = parameters[WINDOW].i, offset = parameters[OFFSET].i;
    layout->first = has_window ? offset - window + 1 : -layout->queries;
    layout->last = parameters[IS_CAUSAL].i ? offset : has_window ? offset + window - 1 : layout->keys;
    layout->scale = lw_has_parameter(arguments, "scale")
                        ? parameters[SCALE].f
                        : 1 / __builtin_sqrt(layout->depth ? (double)layout->depth : 1);
}

/* Converts a bool mask to numbers that the kernel adds to the scores: 0 where a key is visible, -inf where it is not.
 * Leaves a mask of floats unchanged, and raises an error for ints. */
static int convert_bool_mask(lw_operand *mask, const lw_operand *query, lw_placement placement) {
    if (lw_is_integer(mask->dtype)) {
        return lw_refuse(LW_DTYPE_ERROR, "expected attn_mask of bool, true where a key is visible, or of floats to add "
                                         "to the scores, got ints; use astype");
    }
    if (mask->dtype != LW_BOOL) {
        return 0;
    }
    lw_plan choice = {.operation = &lw_operations[LW_OPERATION_where],
                      .placement = placement,
                      .result_placement = placement,
                      .result_count = 1};
    lw_borrow_operand(mask, mask->ndim, &choice.operands[0]);
    lw_operand_from_scalar(LW_WEAK_FLOAT, (lw_scalar){.f = 0}, &choice.operands[1]);
    lw_operand_from_scalar(LW_WEAK_FLOAT, (lw_scalar){.f = -__builtin_inf()}, &choice.operands[2]);
    int dtype = lw_is_floating(query->dtype) ? query->dtype : LW_FLOAT32; /* so that the mask does not promote others */
    int status = lw_convert_operand(&choice.operands[1], dtype) | lw_convert_operand(&choice.operands[2], dtype);
    PyObject *numbers = status < 0 || lw_resolve_elementwise(NULL, &choice) < 0 ? NULL : lw_execute(&choice, NULL);
    lw_end_plan(&choice);
    if (!numbers) {
        return -1;
    }
    lw_own_operand(mask, (lw_tensor *)numbers);
    return 0;
}

/* Broadcasts the leading dimensions of all operands. Unless `group` is 1, the last leading dimension counts heads; if
 * `group` > 1, split_heads() later splits it into two dimensions. The layout has room for both, because at most
 * LW_MAX_NDIM - 2 dimensions are leading ones. */
static int broadcast_batch(const lw_operand *operands, int64_t group, int64_t *shape, lw_attention_layout *layout) {
    lw_operand leading[4];
    int64_t heads[2]; /* the number of heads of key and of value, before it is multiplied by `group` */
    for (int i = 0; i < 4; i++) {
        const lw_operand *operand = &operands[i];
        leading[i].data = NULL;
        if (operand->data) {
            lw_borrow_operand(operand, operand->ndim > 2 ? operand->ndim - 2 : 0, &leading[i]);
        }
    }
    int64_t own_shape[2][LW_MAX_NDIM];
    if (group != 1) {
        for (int i = KEY; i <= VALUE; i++) {
            memcpy(own_shape[i - KEY], leading[i].shape, sizeof(int64_t) * (size_t)leading[i].ndim);
            heads[i - KEY] = own_shape[i - KEY][leading[i].ndim - 1];
            own_shape[i - KEY][leading[i].ndim - 1] = heads[i - KEY] * group;
            leading[i].shape = own_shape[i - KEY];
        }
    }
    int ndim = lw_broadcast_shape(leading, 4, shape);
    if (ndim < 0) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        if (leading[i].data) {
            lw_broadcast_strides(&leading[i], ndim, shape, layout->batch.strides[i]);
        }
    }
    return ndim;
}

/* Splits the last batch dimension into two: the key heads, and the query heads that share each of them. */
static void split_heads(lw_attention_layout *layout, int64_t group) {
    int last = (int)layout->batch.ndim - 1;
    layout->batch.shape[last] /= group;
    layout->batch.shape[last + 1] = group;
    for (int i = 0; i <= RESULT; i++) {
        int64_t *strides = layout->batch.strides[i];
        int shared = i == KEY || i == VALUE;
        strides[last + 1] = shared ? 0 : strides[last];
        strides[last] *= shared ? 1 : group;
    }
    layout->batch.ndim++;
}

/* Sets the strides of the mask, which broadcasts to (..., queries, keys). */
static int set_mask_strides(const lw_operand *mask, lw_attention_layout *layout) {
    int64_t score_shape[2] = {layout->queries, layout->keys}, strides[2] = {0, 0};
    for (int axis = 0; axis < 2 && axis < mask->ndim; axis++) {
        int from = mask->ndim - 1 - axis;
        int64_t extent = mask->shape[from];
        if (extent != 1 && extent != score_shape[1 - axis]) {
            return lw_refuse(LW_SHAPE_ERROR, "expected attn_mask to broadcast to (..., %lld, %lld), got shape %s",
                             (long long)layout->queries, (long long)layout->keys,
                             lw_shape_text(mask->ndim, mask->shape));
        }
        strides[1 - axis] = extent == 1 ? 0 : mask->strides[from];
    }
    layout->row_strides[MASK] = strides[0];
    layout->column_strides[MASK] = strides[1];
    return 0;
}

/* Returns how many pairs of a query and a key that it sees there are, per index of the batch. */
static int64_t visible_pairs(const lw_attention_layout *layout) {
    int64_t pairs = 0;
    for (int64_t query = 0; query < layout->queries; query++) {
        int64_t first = query + layout->first, last = query + layout->last;
        first = first > 0 ? first : 0;
        last = last < layout->keys ? last : layout->keys - 1;
        pairs += last >= first ? last - first + 1 : 0;
    }
    return pairs;
}

int lw_resolve_attention(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operand *operands = plan->operands;
    lw_operand *mask = &plan->operands[MASK];
    if (lw_parse_kernel_parameters(arguments, plan->parameters) < 0 ||
        (mask->data && convert_bool_mask(mask, &plan->operands[QUERY], plan->placement) < 0) ||
        lw_choose_kernel(arguments, plan, 4) < 0 || check_shapes(plan->operation, operands) < 0) {
        return -1;
    }
    const lw_operand *query = &operands[QUERY], *key = &operands[KEY], *value = &operands[VALUE];
    lw_attention_layout *layout = &plan->attention;
    *layout = (lw_attention_layout){
        .queries = query->shape[query->ndim - 2],
        .keys = key->shape[key->ndim - 2],
        .depth = query->shape[query->ndim - 1],
        .value_depth = value->shape[value->ndim - 1],
    };
    int64_t shape[LW_MAX_NDIM];
    int64_t group = query_heads_per_key_head(operands, plan->parameters[ENABLE_GQA].i != 0);
    int ndim = group >= 0 ? broadcast_batch(operands, group, shape, layout) : -1;
    if (ndim < 0) {
        return -1;
    }
    set_scale_and_window(arguments, plan->parameters, layout);
    for (int i = QUERY; i <= VALUE; i++) {
        layout->row_strides[i] = operands[i].strides[operands[i].ndim - 2];
        layout->column_strides[i] = operands[i].strides[operands[i].ndim - 1];
    }
    if (mask->data && set_mask_strides(mask, layout) < 0) {
        return -1;
    }
    layout->batch.ndim = ndim;
    memcpy(layout->batch.shape, shape, sizeof layout->batch.shape);
    shape[ndim] = layout->queries;
    shape[ndim + 1] = layout->value_depth;
    int64_t size = lw_set_result(plan, ndim + 2, shape);
    if (size <= 0) {
        return (int)size;
    }
    const int64_t *strides = plan->results[0].strides;
    memcpy(layout->batch.strides[RESULT], strides, sizeof(int64_t) * (size_t)ndim);
    layout->row_strides[RESULT] = strides[ndim];
    layout->column_strides[RESULT] = strides[ndim + 1];
    if (group > 1) {
        split_heads(layout, group);
    }
    int64_t batch = size / (layout->queries * layout->value_depth);
    plan->steps = batch * visible_pairs(layout) * (layout->depth + layout->value_depth);
    return 0;
}
