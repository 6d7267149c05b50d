/* Decides which calls AUTO moves to a GPU. lanewise/promotion.py measures what that depends on. */
#include "promotion.h"
#include "backends.h"
#include "cost.h"
#include "errors.h"
#include "lanewise_operations.h"
#include "module.h"
#include "python.h"
#include <string.h>
#if !defined(__wasm__)
#include "threads.h"
#endif

/* By how much the GPU has to be expected to be faster: the rates are those of one operation of each kind, and others
 * differ from it. */
static const double MARGIN = 1.25;

/* Measured times of an operation, divided by those of its contract. They stand for all operations of its kind and
 * complexity. */
typedef struct rate {
    double host, gpu; /* 0 if none was measured */
    int complexity;
} rate;

int lw_promotes;
static int measurement_count; /* calls of set_promotion() */

static struct {
    int threads;             /* with more, the CPU is faster than measured */
    double opening;          /* nanoseconds */
    double latency;          /* nanoseconds, of a call with one element, and its copies */
    double upload, download; /* nanoseconds per byte */
    rate rates[LW_KIND_COUNT];
    double missed;    /* nanoseconds that earlier calls would have saved on the GPU */
    int backend;      /* that of the GPU that was measured, once it is open; or -1 */
    int devices_seen; /* open devices when the GPU was last looked for; one more is a reason to look again */
} promotion;

static int threads(void) {
#if defined(__wasm__)
    return 1;
#else
    return lw_threads();
#endif
}

/* Returns the time to copy the operands to the GPU and the result back. */
static double copying(const lw_plan *plan) {
    double nanoseconds = promotion.latency;
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        if (operand->data && !lw_is_number(operand)) {
            nanoseconds += promotion.upload * (double)operand->size * lw_item_size(operand->dtype);
        }
    }
    return nanoseconds + promotion.download * (double)plan->results[0].size * lw_item_size(plan->dtype);
}

int lw_expect(const lw_plan *plan, lw_times *times) {
    const rate *rate = &promotion.rates[plan->operation->kind];
    times->nominal = lw_nominal_nanoseconds(plan->operation, plan->steps, lw_moved_bytes(plan));
    times->host = times->nominal * rate->host;
    times->gpu = (times->nominal * rate->gpu + copying(plan)) * MARGIN;
    return lw_promotes && rate->host > 0 && plan->operation->complexity == rate->complexity &&
           plan->dtype == LW_FLOAT32;
}

static int count_open_devices(void) {
    int count = 0;
    for (int backend = 0; backend < LW_BACKEND_COUNT; backend++) {
        count += lw_devices[backend] != NULL;
    }
    return count;
}

/* Sets promotion.backend to that of the measured GPU, if it is open, or if Python opens it because that `is_due`.
 * Returns -1 with an error set after Ctrl-C. */
static int find_gpu(int is_due) {
    int measurement = measurement_count;
    lw_promotes = 0; /* for calls that are made meanwhile */
    PyObject *due = PyBool_FromLong(is_due), *name = lw_call_hook("open_promoted", NULL, due, NULL, NULL);
    Py_DECREF(due);
    const char *text = name && lw_is_string(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int backend = text ? lw_find_backend(text) : -1;
    int is_interrupted = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception);
    Py_XDECREF(name);
    if (measurement == measurement_count) { /* otherwise, another thread has called set_promotion() meanwhile */
        promotion.backend = backend;
        promotion.devices_seen = count_open_devices();
        lw_promotes = backend >= 0 || !is_due || is_interrupted;
    }
    if (!is_interrupted) {
        PyErr_Clear();
    }
    return is_interrupted ? -1 : 0;
}

int lw_promoted_backend(const lw_plan *plan) {
    lw_times times;
    if (plan->placement.committed || !lw_is_host(plan->home.backend) || promotion.threads < threads() ||
        !lw_expect(plan, &times) || times.gpu > times.host) {
        return -1;
    }
    promotion.missed += times.host - times.gpu;
    int is_due = promotion.missed > promotion.opening;
    if (promotion.backend < 0 && (is_due || count_open_devices() > promotion.devices_seen) && find_gpu(is_due) < 0) {
        return LW_PROMOTION_INTERRUPTED;
    }
    return promotion.backend;
}

void lw_give_up_promotion(int backend) {
    int is_lost = !lw_devices[backend] || lw_devices[backend]->is_lost;
    lw_promotes = lw_promotes && !is_lost && !PyErr_ExceptionMatches(lw_error_class(LW_DEVICE_FAULT));
    PyErr_Clear();
}

/* Sets the rates of the kind of the operation in `row`, (name, time on the CPU, time on the GPU). */
static int set_rate(PyObject *row) {
    double read[2];
    const lw_operation *operation = lw_read_rates(row, read, 2);
    if (!operation) {
        return -1;
    }
    promotion.rates[operation->kind] = (rate){read[0], read[1], operation->complexity};
    return 0;
}

/* set_promotion(threads, opening, latency, upload, download, rates): makes AUTO move calls to the GPU that the hook
 * open_promoted opens. set_promotion(): keeps them on the CPU. */
static PyObject *set_promotion(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    lw_promotes = 0;
    measurement_count++;
    if (count == 0) {
        return Py_NewRef(Py_None);
    }
    int is_valid = count == 6;
    memset(&promotion, 0, sizeof promotion);
    promotion.backend = -1;
    if (is_valid) {
        promotion.threads = (int)PyLong_AsLongLong(arguments[0]);
        promotion.opening = PyFloat_AsDouble(arguments[1]);
        promotion.latency = PyFloat_AsDouble(arguments[2]);
        promotion.upload = PyFloat_AsDouble(arguments[3]);
        promotion.download = PyFloat_AsDouble(arguments[4]);
        for (Py_ssize_t i = 0; is_valid && i < PyTuple_Size(arguments[5]); i++) {
            is_valid = set_rate(PyTuple_GetItem(arguments[5], i)) == 0;
        }
    }
    if (!is_valid || PyErr_Occurred()) {
        return PyErr_Occurred() ? NULL
                                : lw_raise(LW_ARGUMENT_TYPE_ERROR,
                                           "expected (threads, opening, latency, upload, download, rates), or nothing");
    }
    lw_promotes = 1;
    return Py_NewRef(Py_None);
}

LW_NAMED_FAST("set_promotion", set_promotion)

PyMethodDef lw_promotion_functions[] = {
    {"set_promotion", (PyCFunction)(void *)named_set_promotion, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
