/* take and put: items moved by their size, through int32 indices along one axis.
 *
 * The layout walks the elements of the result (take) or of the values (put). The operand that is indexed does not
 * move along the dimensions of the indices; the index adds its multiple of a stride. parameters: the extent of the
 * axis, and that stride in bytes. Negative indices count from the end. All indices are checked before anything is
 * written.
 *
 * core/ops/take.h and put.h define the kernels lw_<op>_bits<n> with GATHER; kernels.c includes them and names the
 * kernels in the table. */
#ifndef LANEWISE_GATHER_H
#define LANEWISE_GATHER_H

#include "pieces.h"
#include "strided.h"

LANE int64_t gather_index(const char *p) {
    int32_t index;
    __builtin_memcpy(&index, p, sizeof index);
    return index;
}

static lw_status gather_check(lw_context *context, const lw_layout *layout, const char *indices, int64_t extent) {
    /* The dimensions that the indices have: along the others they repeat. */
    lw_layout own;
    own.ndim = 0;
    for (int32_t d = 0; d < layout->ndim; d++) {
        if (layout->strides[1][d] == 0 && layout->shape[d] > 0) continue;
        own.shape[own.ndim] = layout->shape[d];
        own.strides[0][own.ndim++] = layout->strides[1][d];
    }
    int64_t count = walk_count(&own, 0, own.ndim);
    walk w;
    walk_start(&w, &own, 0, own.ndim, 1, 0);
    for (int64_t i = 0; i < count; i++, walk_next(&w)) {
        int64_t index = gather_index(indices + w.offset[0]);
        if (index >= -extent && index < extent) continue;
        context->bad_index = index;
        return LW_BAD_INDEX;
    }
    return LW_OK;
}

/* Items of `size` bytes go from operand 0 to operand 2; `indexed` is the one of these that the index moves. */
LANE void gather_piece(const piece *p, const lw_scalar *parameters, int indexed, int size) {
    int64_t extent = parameters[0].i, stride = parameters[1].i;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t index = gather_index(p->data[1] + i * p->step[1]);
        int64_t along = (index < 0 ? index + extent : index) * stride;
        const char *from = p->data[0] + i * p->step[0] + (indexed == 0 ? along : 0);
        char *to = p->data[2] + i * p->step[2] + (indexed == 2 ? along : 0);
        if (p->step[1] == 0) { /* one index for the whole piece */
            copy_strided(to, p->step[2], from, p->step[0], p->count, size);
            return;
        }
        __builtin_memcpy(to, from, (size_t)size);
    }
}

/* Defines the kernel lw_<op>_bits<bits>. Where several indices are equal, the last value that is put stays. */
#define GATHER(op, bits, indexed)                                                                             \
    static void op##_piece_##bits(const piece *p, const lw_scalar *parameters) {                              \
        gather_piece(p, parameters, indexed, bits / 8);                                                       \
    }                                                                                                         \
    static lw_status lw_##op##_bits##bits(lw_context *context, const void *layout, const void *const *inputs, \
                                          void *const *outputs, const lw_scalar *parameters) {                \
        lw_status status = gather_check(context, layout, inputs[1], parameters[0].i);                         \
        if (status != LW_OK) return status;                                                                   \
        return run_pieces(context, layout, inputs, 2, outputs, parameters, indexed == 2, op##_piece_##bits);  \
    }

#endif
