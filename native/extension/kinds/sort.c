/* Resolves calls of sort and argsort. Also computes the first indices of argsort, for topk
 * (lanewise/functions/sorting.py). */
#include "call/execute.h"
#include "device/devices.h"
#include "lanewise_operations.h"
#include "python/module.h"

/* Bytes of scratch memory that a device needs for each element of long rows, at most: pairs of a key and a position,
 * twice, and the counts of digits. */
enum { SCRATCH_BYTES = 18 };

/* Resolves sort or argsort along an axis. Keeps the first `count` results along it, or all if `count` is negative. */
static int sort_along(lw_plan *plan, int axis, int64_t count, int descending) {
    const lw_operand *x = &plan->operands[0];
    int64_t shape[LW_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++) {
        shape[i] = i == axis && count >= 0 ? count : x->shape[i];
    }
    if (lw_refuse_extent(plan->operation, x->shape[axis]) || lw_choose_kernel(NULL, plan, 1) < 0) {
        return -1;
    }
    const lw_device *device = lw_devices[plan->placement.backend];
    if (device && device->max_block && x->size > (int64_t)(device->max_block / SCRATCH_BYTES) &&
        lw_leave_to_cpu(plan) < 0) {
        return -1;
    }
    if (lw_set_result(plan, x->ndim, shape) < 0) {
        return -1;
    }
    lw_plan_rows(plan, axis);
    plan->parameters[0].i = shape[axis];
    plan->parameters[1].i = descending;
    plan->steps = x->size;
    return 0;
}

int lw_resolve_sort(const lw_arguments *arguments, lw_plan *plan) {
    int axis = lw_parse_axis_parameter(arguments, plan->operands[0].ndim);
    if (axis < 0 || lw_parse_kernel_parameters(arguments, plan->parameters) < 0) {
        return -1;
    }
    return sort_along(plan, axis, -1, plan->parameters[0].i != 0);
}

/* argsort_first(x, count, axis, descending): returns the first `count` elements of argsort along the axis. */
static PyObject *argsort_first(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4 || !lw_is_tensor(arguments[0])) {
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (x, count, axis, descending), with a tensor as x");
    }
    lw_plan plan;
    Py_ssize_t first = PyNumber_AsSsize_t(arguments[1], NULL);
    int axis = lw_parse_axis(arguments[2], ((lw_tensor *)arguments[0])->ndim);
    int descending = PyObject_IsTrue(arguments[3]);
    if (axis < 0 || descending < 0 || PyErr_Occurred() ||
        lw_begin_plan(&lw_operations[LW_OPERATION_argsort], arguments, NULL, &plan) != LW_DONE) {
        return NULL;
    }
    PyObject *result = sort_along(&plan, axis, first, descending) < 0 ? NULL : lw_execute(&plan, NULL);
    lw_end_plan(&plan);
    return result;
}

LW_NAMED_FAST("topk", argsort_first)

PyMethodDef lw_sort_functions[] = {
    {"argsort_first", (PyCFunction)(void *)named_argsort_first, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
