/* Packing for the micro-kernel: copies A into panels of GEMM_MR rows, and B into panels of GEMM_NR columns. A panel
 * contains first all its elements with index 0 along k, then all with index 1, and so on. */
#pragma once

#include "gemm/gemm.h"

typedef element gemm_quad __attribute__((vector_size(4 * sizeof(element))));

/* Transposes 4 x 4 elements. Rows of `from` are `across` bytes apart, and rows of `to` are `width` elements apart. */
INLINE void gemm_transpose_4x4(const char *from, int64_t across, element *to, int width) {
    gemm_quad q[4];
    for (int r = 0; r < 4; r++) {
        __builtin_memcpy(&q[r], from + r * across, sizeof q[r]);
    }
    gemm_quad top_left = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
    gemm_quad top_right = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
    gemm_quad low_left = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
    gemm_quad low_right = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
    q[0] = __builtin_shufflevector(top_left, low_left, 0, 1, 4, 5);
    q[1] = __builtin_shufflevector(top_left, low_left, 2, 3, 6, 7);
    q[2] = __builtin_shufflevector(top_right, low_right, 0, 1, 4, 5);
    q[3] = __builtin_shufflevector(top_right, low_right, 2, 3, 6, 7);
    for (int r = 0; r < 4; r++) {
        __builtin_memcpy(to + r * width, &q[r], sizeof q[r]);
    }
}

INLINE void gemm_set_zeros(element *to, int64_t count) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        v_store(to + i, v_set(0));
    }
    for (; i < count; i++) {
        to[i] = 0;
    }
}

/* to[p * width + w] = from[p * along + w * across] for w < count, and 0 for count <= w < width. `along` and `across`
 * are in bytes. */
INLINE void gemm_pack(element *to, int width, const char *from, int64_t across, int64_t along, int64_t count,
                      int64_t depth) {
    int64_t w = 0;
    if (across == sizeof(element) && count == width) {
        PATH("gemm_pack: contiguous rows");
        for (int64_t p = 0; p < depth; p++) {
            __builtin_memcpy(to + p * width, from + p * along, (size_t)width * sizeof *to);
        }
        return;
    }
    if (count < width) { /* zeros for the whole panel take fewer stores than zeros after each of its short rows */
        PATH("gemm_pack: pads with zeros");
        gemm_set_zeros(to, depth * width);
    }
    if (across == sizeof(element) && width % LANES == 0) {
        PATH("gemm_pack: parts of contiguous rows");
        for (int64_t p = 0; p < depth; p++) {
            for (w = 0; w < count; w += LANES) {
                const element *row = (const element *)(from + p * along) + w;
                int n = (int)min_int64(count - w, LANES);
                v_store(to + p * width + w, v_load_partial(row, n, v_set(0)));
            }
        }
        return;
    }
    if (along == sizeof(element) && LANES > 1) {
        for (; w + 4 <= count; w += 4) {
            int64_t p = 0;
            PATH_IF(LANES > 1 && depth >= 4, "gemm_pack: transposes blocks");
            PATH_IF(LANES > 1 && depth % 4, "gemm_pack: after the last transposed block");
            for (; p + 4 <= depth; p += 4) {
                gemm_transpose_4x4(from + w * across + p * along, across, to + p * width + w, width);
            }
            for (; p < depth; p++) {
                for (int r = 0; r < 4; r++) {
                    to[p * width + w + r] = element_load(from + p * along + (w + r) * across);
                }
            }
        }
    }
    PATH_IF(LANES > 1 && w < count && w > 0, "gemm_pack: elements after transposed blocks");
    PATH_IF(w < count && w == 0, "gemm_pack: all elements one by one");
    for (; w < count; w++) {
        for (int64_t p = 0; p < depth; p++) {
            to[p * width + w] = element_load(from + p * along + w * across);
        }
    }
}

/* Packs `count` rows or columns of an operand to one panel, like gemm_pack(). */
typedef void gemm_panel_packer(element *to, const char *from, int64_t across, int64_t along, int64_t count,
                               int64_t depth);

static void gemm_pack_a_panel(element *to, const char *from, int64_t across, int64_t along, int64_t count,
                              int64_t depth) {
    gemm_pack(to, GEMM_MR, from, across, along, count, depth);
}

static void gemm_pack_b_panel(element *to, const char *from, int64_t across, int64_t along, int64_t count,
                              int64_t depth) {
    gemm_pack(to, GEMM_NR, from, across, along, count, depth);
}
