/* Implements the operators of Tensor: the functions for the slots of its type, such as nb_add. */
#include "call/call.h"
#include "call/execute.h"
#include "lanewise_operations.h"
#include "python/module.h"
#include "tensor/exchange.h"
#include <string.h>

/* Returns whether operations accept an object as an operand. If not, the operator returns NotImplemented, and Python
 * tries the method of the other operand. */
static int is_operand(PyObject *object) {
    if (lw_is_tensor(object) || lw_is_float(object) || lw_is_int(object) || lw_is_list(object) || lw_is_tuple(object) ||
        PyObject_CheckBuffer(object)) {
        return 1;
    }
    PyObject *dlpack = PyObject_GetAttrString(object, "__dlpack__");
    PyErr_Clear();
    Py_XDECREF(dlpack);
    return dlpack != NULL;
}

static PyObject *binary(int number, PyObject *a, PyObject *b) {
    const lw_operation *operation = &lw_operations[number];
    if (!is_operand(a) || !is_operand(b)) {
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *const inputs[2] = {a, b};
    return lw_named(operation->name, lw_call_inputs(operation, inputs, NULL));
}

static PyObject *unary(int number, PyObject *x) {
    const lw_operation *operation = &lw_operations[number];
    return lw_named(operation->name, lw_call_inputs(operation, &x, NULL));
}

/* Returns whether a += b can write the elements of a while it reads b: b must be a tensor of the same dtype and shape,
 * in other memory. */
static int can_write_directly(const lw_tensor *a, PyObject *object) {
    if (!lw_is_tensor(object)) {
        return 0;
    }
    lw_operand b;
    lw_operand_from_tensor((lw_tensor *)object, &b);
    return b.dtype == a->dtype && b.ndim == a->ndim &&
           memcmp(a->shape, b.shape, sizeof(int64_t) * (size_t)a->ndim) == 0 && !lw_overlaps(a, &b);
}

/* Returns whether the operation's result has the target's dtype. b must be a number, or a tensor of that dtype. */
static int keeps_dtype(const lw_operation *operation, const lw_tensor *target, PyObject *b) {
    int is_wider =
        lw_is_float(b) ? !lw_is_floating(target->dtype) : lw_is_int(b) && !lw_is_bool(b) && target->dtype == LW_BOOL;
    return !is_wider && operation->results[target->dtype] == target->dtype;
}

/* Computes an in-place operator, such as a += b. Keeps the dtype of a and writes to its elements, even if a is
 * strided. */
static PyObject *compute_in_place(const lw_operation *operation, const char *sign, PyObject *a, PyObject *b) {
    lw_tensor *target = (lw_tensor *)a;
    if (!is_operand(b)) {
        return Py_NewRef(Py_NotImplemented);
    }
    if (target->read_only) {
        return lw_raise(LW_READ_ONLY_ERROR,
                        "expected a writable tensor, got a read-only one; write the result to a new tensor");
    }
    PyObject *const inputs[2] = {a, b};
    int direct = operation->kind == LW_KIND_ELEMENTWISE && target->contiguous &&
                 (lw_is_float(b) || lw_is_int(b) || can_write_directly(target, b)) && keeps_dtype(operation, target, b);
    PyObject *result = lw_call_inputs(operation, inputs, direct ? a : NULL);
    if (direct || !result) {
        return result;
    }
    lw_tensor *computed = (lw_tensor *)result;
    lw_operand operand;
    lw_operand_from_tensor(computed, &operand);
    int done = -1;
    if (computed->dtype != target->dtype) {
        int whole = operation == &lw_operations[LW_OPERATION_divide] && lw_is_integer(target->dtype);
        lw_raise(LW_DTYPE_ERROR,
                 "expected a result of the left tensor's dtype %s, got %s; write x = x %s y in place of x %s= y, or "
                 "use astype first%s",
                 lw_dtype_name(target->dtype), lw_dtype_name(computed->dtype), sign, sign,
                 whole ? "; x //= y keeps integers" : "");
    } else if (computed->ndim != target->ndim ||
               memcmp(computed->shape, target->shape, sizeof(int64_t) * (size_t)target->ndim) != 0) {
        lw_raise(LW_SHAPE_ERROR,
                 "expected a result of the left tensor's shape %s, got %s; write x = x %s y in place of x %s= y",
                 lw_shape_text(target->ndim, target->shape), lw_shape_text(computed->ndim, computed->shape), sign,
                 sign);
    } else {
        done = lw_copy_into(target, &operand);
    }
    Py_DECREF(result);
    if (done < 0) {
        return NULL;
    }
    return Py_NewRef(a);
}

static PyObject *in_place(int number, const char *sign, PyObject *a, PyObject *b) {
    const lw_operation *operation = &lw_operations[number];
    return lw_named(operation->name, compute_in_place(operation, sign, a, b));
}

#define BINARY_SLOTS(name, sign)                                                                         \
    static PyObject *slot_##name(PyObject *a, PyObject *b) { return binary(LW_OPERATION_##name, a, b); } \
    static PyObject *slot_inplace_##name(PyObject *a, PyObject *b) { return in_place(LW_OPERATION_##name, sign, a, b); }
BINARY_SLOTS(add, "+")
BINARY_SLOTS(subtract, "-")
BINARY_SLOTS(multiply, "*")
BINARY_SLOTS(divide, "/")
BINARY_SLOTS(floor_divide, "//")
BINARY_SLOTS(remainder, "%")
BINARY_SLOTS(matmul, "@")
BINARY_SLOTS(bitwise_and, "&")
BINARY_SLOTS(bitwise_or, "|")
BINARY_SLOTS(bitwise_xor, "^")
BINARY_SLOTS(bitwise_left_shift, "<<")
BINARY_SLOTS(bitwise_right_shift, ">>")

static PyObject *slot_divmod(PyObject *a, PyObject *b) {
    PyObject *quotient = binary(LW_OPERATION_floor_divide, a, b);
    if (!quotient || quotient == Py_NotImplemented) {
        return quotient;
    }
    PyObject *remainder = binary(LW_OPERATION_remainder, a, b);
    PyObject *both = remainder ? PyTuple_New(2) : NULL;
    if (!both) {
        Py_DECREF(quotient);
        Py_XDECREF(remainder);
        return NULL;
    }
    PyTuple_SetItem(both, 0, quotient); /* takes over the references */
    PyTuple_SetItem(both, 1, remainder);
    return both;
}

/* A modulus, as in pow(a, b, modulus), is supported only by Python's ints. */
static PyObject *slot_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) {
        return Py_NewRef(Py_NotImplemented);
    }
    return binary(LW_OPERATION_pow, a, b);
}

static PyObject *slot_inplace_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    return in_place(LW_OPERATION_pow, "**", a, b);
}

static PyObject *slot_negative(PyObject *x) { return unary(LW_OPERATION_negative, x); }
static PyObject *slot_absolute(PyObject *x) { return unary(LW_OPERATION_abs, x); }
static PyObject *slot_invert(PyObject *x) { return unary(LW_OPERATION_bitwise_invert, x); }

static PyObject *slot_positive(PyObject *x) {
    return lw_named("positive", (PyObject *)lw_cast_tensor((lw_tensor *)x, ((lw_tensor *)x)->dtype));
}

static PyObject *slot_compare(PyObject *a, PyObject *b, int comparison) {
    static const int by_code[6] = {LW_OPERATION_less,      LW_OPERATION_less_equal, LW_OPERATION_equal,
                                   LW_OPERATION_not_equal, LW_OPERATION_greater,    LW_OPERATION_greater_equal};
    return binary(by_code[comparison], a, b);
}

static int slot_bool(PyObject *x) {
    PyObject *item = lw_named("bool", lw_single_item(x, "use any(), all() or an index"));
    int truth = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return truth;
}

static PyObject *convert_item(PyObject *x, const char *name, PyTypeObject *type) {
    PyObject *item = lw_named(name, lw_single_item(x, "select one with an index"));
    PyObject *result = item ? PyObject_CallFunctionObjArgs((PyObject *)type, item, NULL) : NULL;
    Py_XDECREF(item);
    return result;
}

static PyObject *slot_int(PyObject *x) { return convert_item(x, "int", &PyLong_Type); }
static PyObject *slot_float(PyObject *x) { return convert_item(x, "float", &PyFloat_Type); }

static PyObject *whole_number(PyObject *x) {
    lw_tensor *tensor = (lw_tensor *)x;
    if (tensor->ndim > 0 || !lw_is_integer(tensor->dtype)) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR,
                        "expected a 0-dimensional integer tensor, got %s of shape %s; select an element, or use int(x)",
                        lw_dtype_name(tensor->dtype), lw_shape_text(tensor->ndim, tensor->shape));
    }
    return lw_single_item(x, "select one with an index");
}

static PyObject *slot_index(PyObject *x) { return lw_named("index", whole_number(x)); }

/* value in x: returns whether any element equals the value. */
static int slot_contains(PyObject *x, PyObject *value) {
    PyObject *equal = PyObject_RichCompare(x, value, Py_EQ);
    PyObject *any = equal && lw_is_tensor(equal) ? unary(LW_OPERATION_any, equal) : NULL;
    int found = any ? slot_bool(any)
                : PyErr_Occurred()
                    ? -1
                    : 0; /* 0: x == value is not a tensor, so the value is neither a number nor an array */
    Py_XDECREF(equal);
    Py_XDECREF(any);
    return found;
}

int lw_operator_slots(PyType_Slot *slots) {
#define BINARY(name, slot) \
    {Py_nb_##slot, (void *)slot_##name}, { Py_nb_inplace_##slot, (void *)slot_inplace_##name }
    const PyType_Slot all[] = {
        BINARY(add, add),
        BINARY(subtract, subtract),
        BINARY(multiply, multiply),
        BINARY(divide, true_divide),
        BINARY(floor_divide, floor_divide),
        BINARY(remainder, remainder),
        BINARY(pow, power),
        BINARY(matmul, matrix_multiply),
        BINARY(bitwise_and, and),
        BINARY(bitwise_or, or),
        BINARY(bitwise_xor, xor),
        BINARY(bitwise_left_shift, lshift),
        BINARY(bitwise_right_shift, rshift),
#undef BINARY
        {Py_nb_negative, (void *)slot_negative},
        {Py_nb_absolute, (void *)slot_absolute},
        {Py_nb_invert, (void *)slot_invert},
        {Py_nb_divmod, (void *)slot_divmod},
        {Py_nb_positive, (void *)slot_positive},
        {Py_tp_richcompare, (void *)slot_compare},
        {Py_sq_contains, (void *)slot_contains},
        {Py_nb_bool, (void *)slot_bool},
        {Py_nb_int, (void *)slot_int},
        {Py_nb_float, (void *)slot_float},
        {Py_nb_index, (void *)slot_index},
    };
    memcpy(slots, all, sizeof all);
    return sizeof all / sizeof *all;
}
