/* Handles calls of astype. */
#include "call/call.h"
#include "call/execute.h"
#include "python/python.h"

lw_outcome lw_call_cast(const lw_arguments *arguments, PyObject **result) {
    int dtype = lw_parse_dtype(lw_argument_of(arguments, LW_PARAMETER_DTYPE));
    PyObject *copy = lw_argument_of(arguments, LW_PARAMETER_BOOL);
    int copies = dtype >= 0 && copy ? lw_parse_bool("copy", copy) : 1;
    if (dtype < 0 || copies < 0) {
        return LW_FAILED;
    }
    PyObject *x = arguments->inputs[0];
    if (!copies && lw_is_tensor(x) && ((lw_tensor *)x)->dtype == dtype) {
        *result = Py_NewRef(x);
        return LW_DONE;
    }
    lw_operand operand;
    lw_outcome status = lw_read_operand(x, &operand);
    if (status == LW_DONE) {
        /* Convert a Python number to the dtype of its Python type (int64 for an int), then cast it like a tensor. An
         * int beyond 64 bits has no such dtype, so it is converted at once, or else would be rounded twice. */
        int own_dtype = operand.weakness == LW_WEAK_BOOL                           ? LW_BOOL
                        : operand.weakness == LW_WEAK_INT                          ? LW_INT64
                        : operand.weakness == LW_WEAK_UINT64                       ? LW_UINT64
                        : lw_is_big_int(operand.weakness) && lw_is_floating(dtype) ? dtype
                                                                                   : LW_FLOAT64;
        if (operand.weakness == LW_STRONG || lw_convert_operand(&operand, own_dtype) == 0) {
            *result = (PyObject *)lw_cast(&operand, dtype);
        }
    }
    lw_release_operands(&operand, 1);
    return status;
}
