/* Passes long matrix products, convolutions and attention to web workers (lanewise/backends/workers.py, workers.js).
 * They have a memory of their own, so a call is described by a record that can be copied there. Compiled on every
 * platform, but linked only into WebAssembly. */
#include "call/workers.h"
#include "lanewise_table.h"
#include "plan/cost.h"
#include "python/backends.h"
#include "python/errors.h"
#include "python/module.h"
#include <string.h>

/* Without progress for this long, workers count as lost. */
enum { PATIENCE_MILLISECONDS = 5000 };
static const double PATIENCE_PER_NANOSECOND = 3e-5;

/* A call, in the form in which workers.js copies it to the memory of the workers, relocating `operands`. The order of
 * the words up to `bytes` is known there. */
typedef struct shared_call {
    uint32_t kernel; /* the offset of its entry in lw_library */
    uint32_t input_count, operand_count, patience;
    uint32_t contexts[2], layout, parameters, size; /* offsets in this struct, and its size */
    uint32_t operands[LW_MAX_OPERANDS];             /* addresses: inputs, 0 if absent, then the result */
    uint32_t begins[LW_MAX_OPERANDS], bytes[LW_MAX_OPERANDS];
    lw_context context[2]; /* of the call, and of its tasks; workers.js sets their functions */
    lw_scalar values[LW_MAX_PARAMETERS];
    char layout_copy[sizeof(lw_plan) - offsetof(lw_plan, layout)];
} shared_call;

static PyObject *runner; /* called with the address of a shared_call, returns whether it ran; NULL without workers */
static int backend, threads = 1;

/* Finds the range of memory in which the elements of an operand are. */
static void set_range(shared_call *call, int number, const void *data, const lw_operand *operand) {
    int64_t before = 0, after = lw_item_size(operand->dtype);
    for (int axis = 0; axis < operand->ndim; axis++) {
        int64_t reach = (operand->shape[axis] - 1) * operand->strides[axis];
        *(reach < 0 ? &before : &after) += reach;
    }
    call->operands[number] = (uint32_t)(uintptr_t)data;
    call->begins[number] = call->operands[number] + (uint32_t)before;
    call->bytes[number] = data ? (uint32_t)(after - before) : 0;
}

static void describe(const lw_plan *plan, const void *const *inputs, void *output, shared_call *call) {
    double nanoseconds = lw_nominal_nanoseconds(plan->operation, plan->steps, 0);
    int count = plan->operation->input_count;
    memset(call, 0, sizeof *call);
    call->kernel = (uint32_t)(offsetof(lw_library, kernels) + sizeof(lw_kernel *) * (size_t)plan->kernel);
    call->input_count = (uint32_t)count;
    call->operand_count = (uint32_t)count + 1;
    call->patience = PATIENCE_MILLISECONDS + (uint32_t)(nanoseconds * PATIENCE_PER_NANOSECOND);
    call->contexts[0] = offsetof(shared_call, context[0]);
    call->contexts[1] = offsetof(shared_call, context[1]);
    call->layout = offsetof(shared_call, layout_copy);
    call->parameters = offsetof(shared_call, values);
    call->size = sizeof *call;
    for (int i = 0; i < count; i++) {
        if (inputs[i]) {
            set_range(call, i, inputs[i], &plan->operands[i]);
        }
    }
    call->operands[count] = call->begins[count] = (uint32_t)(uintptr_t)output;
    call->bytes[count] = (uint32_t)(plan->results[0].size * lw_item_size(plan->dtype)); /* it is contiguous */
    call->context[0].threads = threads;
    call->context[0].tasks = lw_tasks_for(nanoseconds, threads);
    call->context[1].threads = call->context[1].tasks = 1;
    memcpy(call->values, plan->parameters, sizeof call->values);
    memcpy(call->layout_copy, &plan->layout, sizeof call->layout_copy);
}

int lw_run_on_workers(const lw_plan *plan, const void *const *inputs, void *const *outputs) {
    shared_call call;
    if (!runner || plan->placement.backend != backend || !lw_computes_much(plan) || !lw_suits_web_workers(plan, 0)) {
        return 0;
    }
    describe(plan, inputs, outputs[0], &call);
    int64_t copied = 0;
    for (uint32_t i = 0; i < call.operand_count; i++) {
        copied += call.bytes[i];
    }
    if (!lw_suits_web_workers(plan, copied)) {
        return 0;
    }
    PyObject *address = PyLong_FromLongLong((intptr_t)&call);
    PyObject *called = Py_NewRef(runner); /* it may be replaced meanwhile */
    PyObject *ran = address ? PyObject_CallFunctionObjArgs(called, address, NULL) : NULL;
    int result = ran ? ran == Py_True : -1;
    Py_XDECREF(ran);
    Py_XDECREF(address);
    Py_DECREF(called);
    return result;
}

/* set_workers(runner, backend, threads): lets `runner` run calls of a backend. None ends that. */
static PyObject *set_workers(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    int parsed = count == 3 ? lw_parse_backend(arguments[1]) : -1;
    Py_ssize_t number = count == 3 ? PyNumber_AsSsize_t(arguments[2], NULL) : -1;
    if (parsed < 0 || number < 1) {
        return PyErr_Occurred() ? NULL
                                : lw_raise(LW_ARGUMENT_ERROR, "set_workers: expected (runner, backend, threads)");
    }
    PyObject *before = runner;
    runner = arguments[0] == Py_None ? NULL : Py_NewRef(arguments[0]);
    backend = parsed;
    threads = (int)number;
    Py_XDECREF(before);
    return Py_NewRef(Py_None);
}

static PyObject *get_num_threads(PyObject *module, PyObject *unused) { return PyLong_FromLongLong(threads); }

PyMethodDef lw_worker_functions[] = {
    {"set_workers", (PyCFunction)(void *)set_workers, METH_FASTCALL, NULL},
    {"get_num_threads", get_num_threads, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
