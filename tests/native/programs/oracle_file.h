/* Reads the oracle's files, and compares results with references by the rules of near() in tests/sweep/judge.py. */
#pragma once

#include "system/half.h"
#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ABSENT = -1 };

static size_t size_of(int dtype) { return (size_t)lw_item_size(dtype); }

typedef struct {
    const uint8_t *at, *end;
} reader;

typedef struct {
    char text[128];
} name;

typedef struct {
    int32_t dtype; /* an lw_dtype, or ABSENT for an omitted input */
    size_t count, bytes;
    const uint8_t *data; /* row-major */
    int ndim;
    int64_t shape[LW_MAX_NDIM];
} array;

typedef struct {
    double ulp, absolute, relative, magnitude;
} bound;

static void fail(const char *why) {
    fprintf(stderr, "runner: %s\n", why);
    exit(2);
}

static const uint8_t *read_bytes(reader *r, size_t bytes) {
    const uint8_t *found = r->at;
    if ((size_t)(r->end - r->at) < bytes) {
        fail("the oracle file is truncated");
    }
    r->at += bytes;
    return found;
}

static uint32_t read_u32(reader *r) {
    uint32_t value;
    memcpy(&value, read_bytes(r, sizeof value), sizeof value);
    return value;
}

static uint64_t read_u64(reader *r) {
    uint64_t value;
    memcpy(&value, read_bytes(r, sizeof value), sizeof value);
    return value;
}

static name read_name(reader *r) {
    name found = {""};
    uint32_t size = read_u32(r);
    const uint8_t *data = read_bytes(r, size + (8 - (4 + size) % 8) % 8);
    memcpy(found.text, data, size < sizeof found.text ? size : sizeof found.text - 1);
    return found;
}

static array read_array(reader *r) {
    array a = {.dtype = (int32_t)read_u32(r), .count = 1};
    a.ndim = (int)read_u32(r);
    if (a.dtype == ABSENT) {
        return a;
    }
    if (a.ndim > LW_MAX_NDIM) {
        fail("an array of the oracle file has more than LW_MAX_NDIM dimensions");
    }
    for (int i = 0; i < a.ndim; i++) {
        a.shape[i] = (int64_t)read_u64(r);
        a.count *= (size_t)a.shape[i];
    }
    a.bytes = (size_t)read_u64(r);
    a.data = read_bytes(r, a.bytes + (8 - a.bytes % 8) % 8);
    return a;
}

/* -- comparing with the reference -- */

static double element(int dtype, const uint8_t *p) {
    uint16_t half;
    float single;
    double full;
    if (lw_item_size(dtype) == 2) {
        return memcpy(&half, p, 2), lw_decode_half(half, lw_dtypes[dtype].fraction);
    }
    if (dtype == LW_FLOAT32) {
        return memcpy(&single, p, 4), single;
    }
    return memcpy(&full, p, 8), full;
}

/* The exponent from which numbers round to infinity, 0 for float64: its largest number stands for it. */
static int limit_of(int dtype) {
    return dtype == LW_FLOAT64 ? 0 : 1 << (8 * lw_item_size(dtype) - lw_dtypes[dtype].fraction - 2);
}

static double unit(int dtype, double value) {
    int digits = lw_dtypes[dtype].fraction + 1, limit = limit_of(dtype);
    int smallest = 3 - (limit ? limit : 1024) - digits, exponent = smallest;
    if (value != 0) {
        frexp(fmin(fabs(value), limit ? ldexp(1, limit - 1) : HUGE_VAL), &exponent);
    }
    return ldexp(1, exponent - digits > smallest ? exponent - digits : smallest);
}

static double rounded_once(int dtype, double value) {
    if (isnan(value) || isinf(value) || dtype == LW_FLOAT64) {
        return value;
    }
    double step = unit(dtype, value), rounded = nearbyint(value / step) * step;
    return fabs(rounded) >= ldexp(1, limit_of(dtype)) ? copysign(INFINITY, value) : copysign(rounded, value);
}

/* The reference is expected + rest. */
static int is_near(double got, double expected, double rest, int dtype, bound b, double magnitude, int strict) {
    if (isnan(expected) || isnan(got)) {
        return isnan(expected) && isnan(got);
    }
    if (got == expected && got != 0) {
        return 1;
    }
    int exact = b.ulp == 0 && b.absolute == 0 && b.relative == 0 && b.magnitude == 0;
    if (exact || expected == 0 || isinf(expected)) {
        double rounded = rounded_once(dtype, expected);
        if (strict && got == 0 && rounded == 0) {
            return !signbit(got) == !signbit(rounded);
        }
        if (exact || strict || isinf(expected)) {
            return got == rounded;
        }
    }
    double max = limit_of(dtype) ? ldexp(1, limit_of(dtype)) : HUGE_VAL;
    double distance = fabs(fmax(-max, fmin(max, got)) - fmax(-max, fmin(max, expected)) - rest);
    double allowed = fmax(b.absolute, fmax(b.relative * fabs(expected), b.magnitude * magnitude));
    return distance <= allowed || distance <= b.ulp * unit(dtype, expected); /* unit() takes long, emulated */
}

/* Writes the strides in bytes of an array whose elements are contiguous, in row-major order. */
static void contiguous(const array *a, size_t item, int64_t *strides) {
    int64_t stride = (int64_t)item;
    for (int d = a->ndim - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= a->shape[d] ? a->shape[d] : 1;
    }
}
