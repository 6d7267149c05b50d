/* Fills the result with one value. parameters: the value, in .f for float dtypes and .i for the others. */
#pragma once

#include "layout/spans.h"
#include "layout/stream.h"
#include "layout/strided.h"

enum {
    FULL_ITEMS = 64,  /* copies of the value that are written to the result at a time */
    FULL_BYTES = 4096 /* of a contiguous result, at most so many at a time: a part that is in L1 */
};

static void full_items(const span *p, const char *items, int32_t size) {
    int streamed = SIMD_STREAM && p->streamed && p->step[0] == size;
    if (!streamed && p->step[0] == size) {
        PATH("full: contiguous");
        int64_t total = p->count * size, done = min_int64(total, FULL_ITEMS * size), bits;
        __builtin_memcpy(&bits, items, sizeof bits);
        if (IS_DOWNLOADED && bits == 0) { /* memory.fill takes two thirds of the time */
            __builtin_memset(p->data[0], 0, (size_t)total);
            return;
        }
        copy_bytes(p->data[0], items, done);
        for (int64_t part; done < total; done += part) {
            part = min_int64(min_int64(done, FULL_BYTES), total - done);
            copy_bytes(p->data[0] + done, p->data[0], part);
        }
        return;
    }
    for (int64_t i = 0; i < p->count; i += FULL_ITEMS) {
        char *place = p->data[0] + i * p->step[0];
        int64_t count = min_int64(p->count - i, FULL_ITEMS);
        if (streamed) {
            PATH_IF(SIMD_STREAM, "full: streamed");
            stream_copy(place, items, count * size);
        } else {
            copy_strided(place, p->step[0], items, size, count, size);
        }
    }
    if (streamed) {
        stream_end();
    }
}

#define FULL(dtype, item, converted)                                            \
    static void full_span_##dtype(const span *p, const lw_scalar *parameters) { \
        item items[FULL_ITEMS], value = converted;                              \
        for (int i = 0; i < FULL_ITEMS; i++) items[i] = value;                  \
        full_items(p, (const char *)items, sizeof(item));                       \
    }                                                                           \
    KERNEL(full_##dtype) { return run_spans(context, layout, inputs, 0, outputs, parameters, full_span_##dtype); }

#if defined LW_ELEMENT_BOOL
FULL(bool, uint8_t, parameters[0].i != 0)
#elif defined LW_ELEMENT_INT32
FULL(int32, int32_t, (int32_t)parameters[0].i)
#elif defined LW_ELEMENT_INT64
FULL(int64, int64_t, parameters[0].i)
#elif defined LW_ELEMENT_FLOAT32
FULL(float32, float, (float)parameters[0].f)
#elif defined LW_ELEMENT_FLOAT64
FULL(float64, double, parameters[0].f)
#endif
