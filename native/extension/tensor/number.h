/* Converts between Python numbers and the elements of tensors. */
#pragma once

#include "lanewise.h"
#include "pyabi.h"

/* Whether an operand is weak, as Python numbers are, and if so, which kind of number it is. Strong operands, such as
 * tensors, decide the dtype, unless a weak one is of a higher kind (bool < int < float): see lw_computed_dtype().
 * An int from 2^63 to 2^64 - 1, which only uint64 holds, is stored as its bits. A big int is one beyond 64 bits: it is
 * stored as the nearest double, to which it is equal, or of which it is below or above. Converting it to an integer
 * dtype is an error. */
typedef enum lw_weakness {
    LW_STRONG,
    LW_WEAK_BOOL,
    LW_WEAK_INT,
    LW_WEAK_UINT64,
    LW_WEAK_BIG_INT_BELOW,
    LW_WEAK_BIG_INT,
    LW_WEAK_BIG_INT_ABOVE,
    LW_WEAK_FLOAT
} lw_weakness;

static inline int lw_is_weak_int(int weakness) { return weakness == LW_WEAK_INT || weakness == LW_WEAK_UINT64; }
static inline int lw_is_big_int(int weakness) { return weakness >= LW_WEAK_BIG_INT_BELOW && weakness < LW_WEAK_FLOAT; }

/* Reads a Python bool, int or float into `value`, and returns which of these it was. */
lw_weakness lw_parse_number(PyObject *object, lw_scalar *value);

/* Returns the double nearest to a number. Sets `rest` to the sign of what the number exceeds it by: -1, 0 or 1. */
double lw_nearest_double(lw_weakness weakness, lw_scalar value, int *rest);
/* Returns a double that rounds to the element of float dtype `dtype` that is nearest to a number. The double that is
 * nearest to an int beyond 53 bits may not: it may be halfway between two elements when the int is not. */
double lw_double_for(lw_weakness weakness, lw_scalar value, int dtype);

/* Writes a number to `destination` as one element of `dtype`. Returns -1 with an error set if the number does not
 * fit. */
int lw_encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination);
/* Returns 0 if an integer dtype holds a weak int of 64 bits, or -1 or 1 if the int is below or above its range. */
int lw_outside(lw_weakness weakness, lw_scalar value, int dtype);

/* Reads one element into `value`, and returns which kind of number it is. */
lw_weakness lw_decode(int dtype, const char *data, lw_scalar *value);
/* Converts one element to a Python number. */
PyObject *lw_item(int dtype, const char *data);
