/* Decides which calls AUTO moves to a GPU, and has Python open it. lanewise/costs/offload.py measures the costs. */
#include "call/offload.h"
#include "plan/cost.h"
#include "python/backends.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/python.h"

int lw_offloads;

static struct {
    double missed;    /* nanoseconds that earlier calls would have saved on the GPU */
    int backend;      /* that of the GPU that was measured, once it is open; or -1 */
    int devices_seen; /* open devices when the GPU was last looked for; one more is a reason to look again */
} state;
static int setting_count; /* calls of set_offload() */

static int count_open_devices(void) {
    int count = 0;
    for (int backend = 0; backend < LW_BACKEND_COUNT; backend++) {
        count += lw_devices[backend] != NULL;
    }
    return count;
}

/* Sets state.backend to that of the measured GPU, if it is open, or if Python opens it because that `is_due`. Returns
 * -1 with an error set after Ctrl-C. */
static int find_gpu(int is_due) {
    int setting = setting_count;
    lw_offloads = 0; /* for calls that are made meanwhile */
    PyObject *due = PyBool_FromLong(is_due), *name = lw_call_hook("open_measured", NULL, due, NULL, NULL);
    Py_DECREF(due);
    const char *text = name && lw_is_string(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int backend = text ? lw_find_backend(text) : -1;
    int is_interrupted = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception);
    Py_XDECREF(name);
    if (setting == setting_count) { /* otherwise, another thread has called set_offload() meanwhile */
        state.backend = backend;
        state.devices_seen = count_open_devices();
        lw_offloads = backend >= 0 || !is_due || is_interrupted;
    }
    if (!is_interrupted) {
        PyErr_Clear();
    }
    return is_interrupted ? -1 : 0;
}

int lw_offload_backend(const lw_plan *plan) {
    lw_times times;
    if (plan->placement.committed || !lw_is_host(plan->result_placement.backend) || !lw_offload_times(plan, &times) ||
        times.gpu > times.host) {
        return -1;
    }
    state.missed += times.host - times.gpu;
    int is_due = lw_pays_for_opening(state.missed);
    if (state.backend < 0 && (is_due || count_open_devices() > state.devices_seen) && find_gpu(is_due) < 0) {
        return LW_OFFLOAD_INTERRUPTED;
    }
    return state.backend;
}

void lw_give_up_offload(int backend) {
    int is_lost = !lw_devices[backend] || lw_devices[backend]->is_lost;
    lw_offloads = lw_offloads && !is_lost && !PyErr_ExceptionMatches(lw_error_class(LW_DEVICE_FAULT));
    PyErr_Clear();
}

/* set_offload(enabled): makes AUTO move calls to the GPU that the hook open_measured opens, or keeps them on the CPU.
 * What was saved or opened before no longer counts. */
static PyObject *set_offload(PyObject *module, PyObject *enabled) {
    int offloads = PyObject_IsTrue(enabled);
    if (offloads < 0) {
        return NULL;
    }
    state.missed = 0;
    state.backend = -1;
    state.devices_seen = 0;
    setting_count++;
    lw_offloads = offloads;
    return Py_NewRef(Py_None);
}

PyMethodDef lw_offload_functions[] = {
    {"set_offload", set_offload, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
