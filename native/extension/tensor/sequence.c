/* Converts numbers and nested sequences of numbers to tensors, and elements of tensors to Python numbers. */
#include "call/execute.h"
#include "plan/arguments.h"
#include "tensor/exchange.h"
#include "tensor/number.h"
#include <string.h>

/* Derives the shape from the first element of each level. read_level() checks the other elements. */
static int guess_shape(PyObject *object, int64_t *shape) {
    int ndim = 0;
    while (lw_is_sequence(object)) {
        if (ndim == LW_MAX_NDIM) {
            return lw_refuse(LW_SHAPE_ERROR, "expected lists nested at most %d deep, got deeper ones", LW_MAX_NDIM);
        }
        shape[ndim++] = lw_sequence_size(object);
        if (shape[ndim - 1] == 0) {
            break;
        }
        object = lw_sequence_item(object, 0);
    }
    return ndim;
}

typedef struct reader {
    int ndim;
    const int64_t *shape;
    int widest;      /* the highest lw_weakness among the numbers; LW_STRONG if there are none */
    int needs_int64; /* whether an int exceeds 32 bits */
    int dtype;       /* the tensor's dtype; unused while `next` is NULL */
    char *next;      /* where to write the next element; NULL while the list is only checked and its dtype determined */
} reader;

static int read_number(PyObject *object, lw_weakness *weakness, lw_scalar *value) {
    if (!lw_is_int(object) && !lw_is_float(object)) {
        return lw_refuse(LW_ARGUMENT_TYPE_ERROR, "expected numbers in the list, got %S", lw_describe(object));
    }
    *weakness = lw_parse_number(object, value);
    return 0;
}

/* Returns the element of a 0-dimensional tensor as a number, and any other object unchanged; both are new
 * references. */
static PyObject *item_or_self(PyObject *object) {
    if (lw_is_tensor(object) && ((lw_tensor *)object)->ndim == 0) {
        return lw_read_item((lw_tensor *)object, ((lw_tensor *)object)->data);
    }
    return Py_NewRef(object);
}

static int add_element(reader *reader, lw_weakness weakness, lw_scalar value) {
    if (reader->next) {
        int result = lw_encode(weakness, value, reader->dtype, reader->next);
        reader->next += lw_item_size(reader->dtype);
        return result;
    }
    reader->widest = (int)weakness > reader->widest ? (int)weakness : reader->widest;
    reader->needs_int64 |= weakness >= LW_WEAK_UINT64 || (weakness == LW_WEAK_INT && value.i != (int32_t)value.i);
    return 0;
}

static int read_leaf(reader *reader, PyObject *object) {
    lw_weakness weakness;
    lw_scalar value;
    PyObject *number = item_or_self(object);
    int result = number ? read_number(number, &weakness, &value) : -1;
    Py_XDECREF(number);
    return result < 0 ? -1 : add_element(reader, weakness, value);
}

/* Returns whether an object is of the type float or int itself, so that no other code runs when it is read. */
static int is_plain(PyObject *object) { return Py_TYPE(object) == &PyFloat_Type || Py_TYPE(object) == &PyLong_Type; }

static int read_plain(reader *reader, PyObject *object) {
    lw_scalar value = {.f = 0}; /* while the dtype is determined, floats do not count */
    int is_needed = reader->next || Py_TYPE(object) != &PyFloat_Type;
    lw_weakness weakness = is_needed ? lw_parse_number(object, &value) : LW_WEAK_FLOAT;
    return add_element(reader, weakness, value);
}

static int read_level(reader *reader, PyObject *object, int depth) {
    int leaf = depth == reader->ndim;
    if (lw_is_sequence(object) == leaf || (!leaf && lw_sequence_size(object) != reader->shape[depth])) {
        return lw_refuse(LW_SHAPE_ERROR, "expected lists of equal length at each level, got a ragged list at depth %d",
                         depth);
    }
    if (leaf) {
        return read_leaf(reader, object);
    }
    int is_list = lw_is_list(object), is_last = depth + 1 == reader->ndim;
    int64_t size = reader->shape[depth];
    for (int64_t i = 0; i < reader->shape[depth]; i++) {
        if (i >= size) { /* other code has shortened the list */
            return lw_refuse(LW_ARGUMENT_ERROR, "the list changed while it was read; pass a copy");
        }
        PyObject *item = is_list ? PyList_GetItem(object, (Py_ssize_t)i) : PyTuple_GetItem(object, (Py_ssize_t)i);
        if (is_last && is_plain(item)) {
            if (read_plain(reader, item) < 0) {
                return -1;
            }
            continue;
        }
        if (read_level(reader, item, depth + 1) < 0) {
            return -1;
        }
        size = lw_sequence_size(object);
    }
    return 0;
}

lw_tensor *lw_tensor_from_numbers(PyObject *numbers, int dtype) {
    int64_t shape[LW_MAX_NDIM];
    int ndim = guess_shape(numbers, shape);
    if (ndim < 0) {
        return NULL;
    }
    reader reader = {.ndim = ndim, .shape = shape};
    if (read_level(&reader, numbers, 0) < 0) {
        return NULL;
    }
    if (dtype < 0) {
        dtype = reader.widest == LW_WEAK_BOOL                                  ? LW_BOOL
                : reader.widest == LW_STRONG || reader.widest == LW_WEAK_FLOAT ? lw_default_floating
                : reader.needs_int64                                           ? LW_INT64
                                                                               : lw_default_integer;
    }
    lw_tensor *tensor = lw_tensor_new(dtype, ndim, shape, lw_host_placement());
    if (tensor) {
        reader.dtype = dtype;
        reader.next = tensor->data;
        if (read_level(&reader, numbers, 0) < 0) {
            Py_DECREF((PyObject *)tensor);
            tensor = NULL;
        }
    }
    return tensor;
}
