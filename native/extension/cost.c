/* The expected times of kernels. They decide whether a call releases the GIL, how many threads share it, when a GPU is
 * worth its copies, and when its recorded work is submitted. */
#include "cost.h"
#include "arguments.h"
#include "errors.h"
#include "module.h"
#include "python.h"
#include <string.h>

/* The time to read or write a byte of an operand in the cache: a float32 addition takes 0.13 ns for 12 bytes. */
static const double NANOSECONDS_PER_BYTE = 0.011;

static double longer(double computing, int64_t bytes) {
    double moving = (double)bytes * NANOSECONDS_PER_BYTE;
    return computing > moving ? computing : moving;
}

double lw_nominal_nanoseconds(const lw_operation *operation, int64_t steps, int64_t bytes) {
    return longer((double)steps * operation->step_nanoseconds, bytes);
}

const lw_operation *lw_read_rates(PyObject *row, double *rates, int count) {
    int is_row = lw_is_tuple(row) && PyTuple_Size(row) == count + 1;
    PyObject *name = is_row ? PyTuple_GetItem(row, 0) : NULL;
    const char *text = name && lw_is_string(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const lw_operation *operation = text ? lw_find_operation(text) : NULL;
    for (int i = 0; operation && !PyErr_Occurred() && i < count; i++) {
        rates[i] = PyFloat_AsDouble(PyTuple_GetItem(row, i + 1));
    }
    return PyErr_Occurred() ? NULL : operation;
}

#if !defined(__wasm__)

/* By kind and complexity; 0 where none was measured. A measured operation stands for all others like it. The GIL guards
 * the table. */
static double rates[LW_KIND_COUNT][LW_COMPLEXITY_COUNT];
static const double MAX_RATE = 1e6;

double lw_expected_nanoseconds(const lw_operation *operation, int64_t steps, int64_t bytes) {
    double computing = (double)steps * operation->step_nanoseconds;
    double rate = rates[operation->kind][operation->complexity];
    return longer(rate > 0 ? computing * rate : computing, bytes);
}

/* set_rates((operation, rate), ...): sets the rates of the kinds and complexities of these operations. All others take
 * the contracts' times afterwards. */
static PyObject *set_rates(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    double set[LW_KIND_COUNT][LW_COMPLEXITY_COUNT] = {{0}};
    for (Py_ssize_t i = 0; i < count; i++) {
        double rate;
        const lw_operation *operation = lw_read_rates(arguments[i], &rate, 1);
        if (PyErr_Occurred()) {
            return NULL;
        }
        if (!operation || !(rate > 0 && rate <= MAX_RATE)) {
            return lw_raise(LW_ARGUMENT_ERROR, "expected pairs of an operation's name and a rate, 0 < rate <= 1e6");
        }
        set[operation->kind][operation->complexity] = rate;
    }
    memcpy(rates, set, sizeof rates);
    return Py_NewRef(Py_None);
}

LW_NAMED_FAST("set_rates", set_rates)

PyMethodDef lw_cost_functions[] = {
    {"set_rates", (PyCFunction)(void *)named_set_rates, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

#endif
