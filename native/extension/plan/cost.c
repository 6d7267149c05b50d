/* The costs, and the decisions that depend on them. A decision compares a time that the contracts and the rate of a
 * backend give with a handful of constants, which lanewise/costs/calibration.py passes to set_costs(). */
#include "plan/cost.h"
#include "pool/threads.h"
#include "python/backends.h"
#include "python/errors.h"
#include "python/module.h"
#include <string.h>

/* All in nanoseconds. SPINNING and SLEEPING are the least work per thread for which one more thread makes a call
 * faster: a worker that spins after the previous call begins within 1 us; waking one that sleeps takes 5 to 50 us
 * (Intel Xeon, 16 cores of a virtual machine, 2026-11), but it is then ready for the next call. WEB_WORKER is the least
 * work, in nominal time, for web workers: matmul of 216 x 216 has 126,000, and takes 0.4 ms on one thread of a page
 * (AMD EPYC, 2 cores, Chromium, 2026-11). OPENING is the time to open a GPU, LAUNCH that of a call on it with its
 * copies, whatever their size, TRANSFER that of copying a byte. GPU is a rate: the time of a kernel on the GPU, divided
 * by that in the contract. */
enum { SPINNING, SLEEPING, WEB_WORKER, OPENING, LAUNCH, TRANSFER, GPU, CONSTANTS };

static const char *const names[CONSTANTS] = {"spinning", "sleeping", "web_worker", "opening",
                                             "launch",   "transfer", "gpu"};

typedef struct costs {
    double constants[CONSTANTS];
    double rates[LW_BACKEND_COUNT]; /* times on one thread, divided by those in the contracts; 0 for GPUs */
} costs;

#define DEFAULTS \
    {.constants = {2500, 12000, 106000, 1e9, 0, 0, 0}, .rates = {[LW_BACKEND_AVX512... LW_BACKEND_SCALAR] = 1}}
static const costs defaults = DEFAULTS;
static costs now = DEFAULTS; /* guarded by the GIL */
static const double MAX_COST = 1e12;

/* The time to read or write a byte of an operand in the cache: a float32 addition takes 0.13 ns for 12 bytes. */
static const double NANOSECONDS_PER_BYTE = 0.011;

/* Shorter calls keep the GIL, because releasing it would cost more than it gains. */
static const double NANOSECONDS_WITHOUT_GIL = 4200;

/* With one thread, the most time that a task should take, which is the time between two checks for Ctrl-C. */
static const double NANOSECONDS_WITHOUT_CHECK = 1e6;

/* With several threads, each thread has SEVERAL_TASKS, unless they would be shorter than SHORT_TASK or longer than
 * LONG_TASK, in nanoseconds. A thread that is late, or shares its core's caches with another process, then leaves some
 * of its tasks to others; starting a task takes about 0.1 us. On 8 hyperthreads, two of which share a core from time to
 * time, x + y of 4 MB takes 37 us, 41 with tasks of 5 us, and 60 with tasks of 20 us; the 90th percentile is 72, 73 and
 * 147. With twice as many tasks of half the length, exp(x) of 1 MB takes 25 us instead of 18. */
enum { SEVERAL_TASKS = 8 };
static const double SHORT_TASK = 2000, LONG_TASK = 20000;

/* The time to copy a byte between the memories of a page and its web workers. */
static const double NANOSECONDS_PER_SHARED_BYTE = 0.034;

/* By how much the GPU has to be expected to be faster: its rate is a mean, from which operations differ. */
static const double MARGIN = 1.25;

/* About 0.5 ms on a large GPU, which pauses for some 10 us between batches. */
static const double NANOSECONDS_OF_BATCH = 4e7;

static double longer(double computing, int64_t bytes) {
    double moving = (double)bytes * NANOSECONDS_PER_BYTE;
    return computing > moving ? computing : moving;
}

double lw_nominal_nanoseconds(const lw_operation *operation, int64_t steps, int64_t bytes) {
    return longer((double)steps * operation->step_nanoseconds, bytes);
}

double lw_expected_nanoseconds(const lw_operation *operation, int backend, int64_t steps, int64_t bytes) {
    return longer((double)steps * operation->step_nanoseconds * now.rates[backend], bytes);
}

int lw_is_brief(double nanoseconds) { return nanoseconds < NANOSECONDS_WITHOUT_GIL; }

#if defined(__wasm__)

int lw_running_threads(void) { return 1; }

int lw_threads_for(double nanoseconds) { return 1; }

#else

int lw_running_threads(void) {
    int threads = lw_threads(), cores = lw_cores();
    return threads < cores ? threads : cores;
}

/* Grows the team at most 4x a call, unless the work pays for threads that sleep: the workers woken now are ready for
 * the next call. */
int lw_threads_for(double nanoseconds) {
    const double *constants = now.constants;
    int threads = lw_threads();
    if (threads == 1 || !(nanoseconds >= 2 * constants[SPINNING])) {
        return 1;
    }
    int ready = lw_ready_workers();
    double worth = ready ? nanoseconds / constants[SPINNING] : 0, asleep = nanoseconds / constants[SLEEPING];
    worth = worth < 4 * (ready + 1) ? worth : 4 * (ready + 1);
    worth = worth > asleep ? worth : asleep;
    return worth < 2 ? 1 : worth < threads ? (int)worth : threads;
}

#endif

int64_t lw_tasks_for(double nanoseconds, int64_t threads) {
    double share = nanoseconds / (double)threads;
    if (threads == 1) {
        return 1 + (int64_t)(share / NANOSECONDS_WITHOUT_CHECK);
    }
    int64_t least = 1 + (int64_t)(share / LONG_TASK), most = 1 + (int64_t)(share / SHORT_TASK);
    int64_t tasks = most < SEVERAL_TASKS ? most : SEVERAL_TASKS;
    return threads * (tasks > least ? tasks : least);
}

int lw_computes_much(const lw_plan *plan) {
    lw_kind kind = plan->operation->kind;
    int has_weight = kind == LW_KIND_WINDOW && plan->operation->input_count > 1;
    return kind == LW_KIND_MATRIX || kind == LW_KIND_ATTENTION || has_weight;
}

int lw_suits_web_workers(const lw_plan *plan, int64_t bytes) {
    double nominal = lw_nominal_nanoseconds(plan->operation, plan->steps, 0);
    return nominal >= now.constants[WEB_WORKER] + NANOSECONDS_PER_SHARED_BYTE * (double)bytes;
}

/* Returns how many bytes are copied to the GPU and back if it runs a plan. */
static int64_t copied_bytes(const lw_plan *plan) {
    int64_t bytes = plan->results[0].size * lw_item_size(plan->dtype);
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        bytes += operand->data && !lw_is_number(operand) ? operand->size * lw_item_size(operand->dtype) : 0;
    }
    return bytes;
}

int lw_offload_times(const lw_plan *plan, lw_times *times) {
    const lw_operation *operation = plan->operation;
    int64_t bytes = lw_moved_bytes(plan);
    double computing = lw_nominal_nanoseconds(operation, plan->steps, bytes) * now.constants[GPU];
    double copying = now.constants[LAUNCH] + now.constants[TRANSFER] * (double)copied_bytes(plan);
    times->host =
        lw_expected_nanoseconds(operation, plan->placement.backend, plan->steps, bytes) / lw_running_threads();
    times->gpu = (computing + copying) * MARGIN;
    return plan->dtype == LW_FLOAT32 && lw_is_floating(plan->result_dtype) && lw_computes_much(plan);
}

int lw_pays_for_opening(double nanoseconds) { return nanoseconds > now.constants[OPENING]; }

int lw_fills_gpu(double nanoseconds) { return nanoseconds > NANOSECONDS_OF_BATCH; }

/* Returns where the cost with a name is stored, or NULL: that of a constant, or of a CPU backend, for its rate. */
static double *find_cost(costs *costs, const char *name) {
    for (int i = 0; i < CONSTANTS; i++) {
        if (strcmp(name, names[i]) == 0) {
            return &costs->constants[i];
        }
    }
    int backend = lw_find_backend(name);
    return backend >= 0 && lw_is_host(backend) ? &costs->rates[backend] : NULL;
}

/* Sets a cost from an item of the dict. Returns whether both are valid; otherwise, an error may be set. */
static int set_cost(costs *costs, PyObject *key, PyObject *value) {
    const char *name = lw_is_string(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
    double *cost = name ? find_cost(costs, name) : NULL, number = cost ? PyFloat_AsDouble(value) : -1;
    if (!cost || !(number >= 0 && number <= MAX_COST)) {
        return 0;
    }
    *cost = number;
    return 1;
}

/* set_costs(costs): sets the costs with these names; all others become the defaults. */
static PyObject *set_costs(PyObject *module, PyObject *given) {
    costs set = defaults;
    PyObject *key, *value;
    Py_ssize_t position = 0;
    int is_valid = lw_is_dict(given);
    while (is_valid && PyDict_Next(given, &position, &key, &value)) {
        is_valid = set_cost(&set, key, value);
    }
    if (!is_valid) {
        PyErr_Clear();
        return lw_named("set_costs", lw_raise(LW_ARGUMENT_ERROR, "expected names of costs and numbers from 0 to 1e12"));
    }
    now = set;
    return Py_NewRef(Py_None);
}

/* Adds an item to the dict. Returns -1 with an error set on failure. */
static int add_cost(PyObject *dict, const char *text, double cost) {
    PyObject *name = PyUnicode_FromString(text), *number = name ? PyFloat_FromDouble(cost) : NULL;
    int added = number ? PyDict_SetItem(dict, name, number) : -1;
    Py_XDECREF(name);
    Py_XDECREF(number);
    return added;
}

/* get_costs(): returns the costs in use by name, as set_costs() takes them. */
static PyObject *get_costs(PyObject *module, PyObject *unused) {
    PyObject *found = PyDict_New();
    int added = found ? 0 : -1;
    for (int i = 0; added == 0 && i < CONSTANTS; i++) {
        added = add_cost(found, names[i], now.constants[i]);
    }
    for (int backend = 0; added == 0 && backend < LW_BACKEND_COUNT; backend++) {
        added = lw_is_host(backend) ? add_cost(found, lw_backend_name(backend), now.rates[backend]) : 0;
    }
    if (added < 0) {
        Py_XDECREF(found);
        return NULL;
    }
    return found;
}

PyMethodDef lw_cost_functions[] = {
    {"set_costs", set_costs, METH_O, NULL},
    {"get_costs", get_costs, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
