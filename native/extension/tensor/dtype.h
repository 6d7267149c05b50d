/* Facts about dtypes, from contracts/facts.yaml. */
#pragma once

#include "lanewise.h"
#include "visibility.h"

typedef struct lw_dtype_facts {
    const char *name;
    char format[2];   /* in the buffer protocol */
    uint8_t class;    /* an lw_class */
    uint8_t size;     /* of an element, in bytes */
    uint8_t dlpack;   /* DLPack's type code */
    uint8_t fraction; /* of floats, how many bits of the fraction are stored */
    int8_t elements;  /* the dtype that its elements are computed in */
} lw_dtype_facts;

LW_HIDDEN const lw_dtype_facts lw_dtypes[LW_DTYPE_COUNT];
LW_HIDDEN const char lw_dtype_list[]; /* the names of all dtypes, for messages */
/* The dtype to which two dtypes promote, -1 if there is none. */
LW_HIDDEN const int8_t lw_promotions[LW_DTYPE_COUNT][LW_DTYPE_COUNT];

/* The lw_class of numbers that a format letter of the buffer protocol stands for; their sizes differ by platform. */
LW_HIDDEN const uint8_t lw_letter_classes[256];
enum { LW_MAX_ITEM_SIZE = 8 };
/* One more than the dtype of a class whose elements have a size in bytes, 0 if there is none. */
LW_HIDDEN const int8_t lw_sized_dtypes[LW_CLASS_COUNT][LW_MAX_ITEM_SIZE + 1];

/* The dtypes of Python's ints and floats, which set_default_dtype() changes. */
LW_HIDDEN int8_t lw_default_integer, lw_default_floating;

static inline const char *lw_dtype_name(int dtype) { return lw_dtypes[dtype].name; }
static inline int lw_is_floating(int dtype) { return lw_dtypes[dtype].class == LW_CLASS_FLOATING; }
static inline int lw_is_integer(int dtype) {
    return lw_dtypes[dtype].class == LW_CLASS_SIGNED || lw_dtypes[dtype].class == LW_CLASS_UNSIGNED;
}

/* Returns the dtype that the elements of a dtype are computed in: the dtype itself, unless it is only stored. */
static inline int lw_elements(int dtype) { return lw_dtypes[dtype].elements; }

static inline int64_t lw_item_size(int dtype) { return lw_dtypes[dtype].size; }

/* Returns the float dtype of a quotient of integers of this dtype. */
static inline int lw_floating_dtype(int dtype) { return lw_item_size(dtype) == 8 ? LW_FLOAT64 : lw_default_floating; }

/* Return the bounds of an integer dtype, those of uint64 as the bits of an int64_t. */
static inline int64_t lw_lowest_integer(int dtype) {
    return lw_dtypes[dtype].class == LW_CLASS_SIGNED ? INT64_MIN >> (64 - 8 * lw_item_size(dtype)) : 0;
}
static inline int64_t lw_highest_integer(int dtype) {
    return (int64_t)(UINT64_MAX >> (64 - 8 * lw_item_size(dtype) + (lw_dtypes[dtype].class == LW_CLASS_SIGNED)));
}

/* Returns how many elements of a dtype `bytes` hold. Item sizes are powers of two, so no slow division is needed. */
static inline int64_t lw_items(int dtype, int64_t bytes) {
    return bytes >> __builtin_ctz((unsigned)lw_item_size(dtype));
}
