/* The memory of a kernel's operands, at addresses and with strides that show a wrong access. */
#pragma once

#include "oracle_file.h"

enum { GUARD = 64, CANARY = 0xa5 };

/* An array in memory. The allocation of an input ends where the array does, so that the address sanitizer notices reads
 * past it; a result has GUARD bytes on either side. One more item before the array makes its address unaligned for
 * vectors. */
typedef struct {
    uint8_t *memory, *first; /* the allocation; the array's first element */
    size_t bytes;            /* of the allocation */
    size_t item;
    int64_t strides[LW_MAX_NDIM];
} placed;

/* Allocates memory for an array of this shape, with the strides that p already has. */
static void place(placed *p, const array *a, size_t item, size_t guard) {
    int64_t before = 0, after = 0;
    for (int d = 0; d < a->ndim && a->count; d++) {
        int64_t reach = (a->shape[d] - 1) * p->strides[d];
        before -= reach < 0 ? reach : 0;
        after += reach > 0 ? reach : 0;
    }
    size_t lead = guard + item + (size_t)before;
    p->item = item;
    p->bytes = lead + (size_t)after + (a->count ? item : 0) + guard;
    p->memory = malloc(p->bytes);
    p->first = p->memory + lead;
    memset(p->memory, CANARY, p->bytes);
}

typedef enum { TO_ARRAY, FROM_ARRAY, TO_CANARIES } transfer;

/* Copies row-major elements to the array or from it, or fills the array with canaries. The axes from `outer` on are
 * contiguous, and are copied as one item: under an emulator, a copy by elements takes longer than most kernels. */
static void copy(const placed *p, const array *a, uint8_t *packed, transfer direction) {
    int64_t index[LW_MAX_NDIM] = {0};
    uint8_t *at = p->first;
    int outer = a->ndim;
    size_t bytes = p->item;
    while (outer > 0 && p->strides[outer - 1] == (int64_t)bytes && a->count) {
        bytes *= (size_t)a->shape[--outer];
    }
    for (size_t done = 0; done < a->count * p->item; done += bytes, packed += bytes) {
        if (direction == TO_CANARIES) {
            memset(at, CANARY, bytes);
        } else {
            memcpy(direction == TO_ARRAY ? at : packed, direction == TO_ARRAY ? packed : at, bytes);
        }
        for (int d = outer - 1; d >= 0; d--) {
            at += p->strides[d];
            if (++index[d] < a->shape[d]) {
                break;
            }
            at -= a->shape[d] * p->strides[d];
            index[d] = 0;
        }
    }
}

/* Returns whether all bytes of the allocation are canaries. */
static int is_untouched(const placed *p) {
    static const uint8_t word[8] = {CANARY, CANARY, CANARY, CANARY, CANARY, CANARY, CANARY, CANARY};
    size_t at = 0;
    while (at + sizeof word <= p->bytes && memcmp(p->memory + at, word, sizeof word) == 0) {
        at += sizeof word;
    }
    while (at < p->bytes && p->memory[at] == CANARY) {
        at++;
    }
    return at == p->bytes;
}
