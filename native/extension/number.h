/* Converts between Python numbers and the elements of tensors. */
#pragma once

#include "lanewise.h"
#include "pyabi.h"

/* Whether an operand is weak, as Python numbers are, and if so, which kind of number it is. Strong operands, such as
 * tensors, decide the dtype, unless a weak one is of a higher kind (bool < int < float): see lw_computed_dtype().
 * LW_WEAK_BIG_INT is an int beyond 64 bits: it is stored as the nearest double, and converting it to an integer dtype
 * is an error. */
typedef enum lw_weakness { LW_STRONG, LW_WEAK_BOOL, LW_WEAK_INT, LW_WEAK_BIG_INT, LW_WEAK_FLOAT } lw_weakness;

/* Reads a Python bool, int or float into `value`, and returns which of these it was. */
lw_weakness lw_parse_number(PyObject *object, lw_scalar *value);

/* Writes a number to `destination` as one element of `dtype`. Returns -1 with an error set if the number does not
 * fit. */
int lw_encode(lw_weakness weakness, lw_scalar value, int dtype, void *destination);

/* Converts one element to a Python number. */
PyObject *lw_item(int dtype, const char *data);
