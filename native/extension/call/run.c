/* Runs kernels: sets up their context, releases the GIL, shares work between threads, checks for Ctrl-C, and raises
 * an error if the kernel returns one. */
#include "call/run.h"
#include "memory/memory.h"
#include "plan/cost.h"
#include "pool/threads.h"
#include "python/backends.h"
#include "python/errors.h"
#include "python/module.h"
#include "system/clock.h"
#include "system/cpu.h"
#include "system/float_modes.h"
#include "tensor/storage.h"
#include <stdatomic.h>
#if !defined(_WIN32) && !defined(__wasm__)
#include <pthread.h>
#endif

/* How often a long kernel checks for Ctrl-C. Checking after every task would take too long: each check has to acquire
 * the GIL, which another thread may hold. */
enum { SIGNAL_CHECK_MILLISECONDS = 50 };

typedef struct host {
    PyThreadState *thread; /* NULL while the GIL is held */
    int64_t next_check;
} host;

#if !defined(__wasm__)

static _Atomic unsigned long main_thread; /* the one in which Python runs signal handlers */

static __attribute__((unused)) void after_fork_in_child(void) {
    atomic_store(&main_thread, PyThread_get_thread_ident());
}

/* set_main_thread(ident): called at import. */
static PyObject *set_main_thread(PyObject *module, PyObject *ident) {
    unsigned long thread = (unsigned long)PyLong_AsLongLong(ident);
    if (PyErr_Occurred()) {
        return NULL;
    }
    atomic_store(&main_thread, thread);
#if !defined(_WIN32)
    static int is_watching;
    is_watching = is_watching || pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
#endif
    return Py_NewRef(Py_None);
}

/* Returns whether this thread has signals to check. No other thread may acquire the GIL during a job: once Python ends,
 * that ends the thread (before 3.14), and with it the stack on which the workers find the job. */
static int handles_signals(void) { return PyThread_get_thread_ident() == atomic_load(&main_thread); }

#else

static int handles_signals(void) { return 1; }

#endif

static int interrupted(void *of) {
    host *host = of;
    int64_t now = lw_milliseconds();
    if (now < host->next_check) {
        return 0;
    }
    host->next_check = now + SIGNAL_CHECK_MILLISECONDS;
    if (!handles_signals()) {
        return 0;
    }
    if (host->thread) {
        PyEval_RestoreThread(host->thread);
    }
    int signalled = PyErr_CheckSignals() < 0;
    if (host->thread) {
        host->thread = PyEval_SaveThread();
    }
    return signalled;
}

#if defined(__wasm__)

static lw_status run_tasks(lw_context *context, int64_t count, lw_task *task, const void *argument) {
    for (int64_t index = 0; index < count; index++) {
        lw_status status = task(context, index, argument);
        if (status != LW_OK) {
            return status;
        }
        if (interrupted(context->host)) {
            return LW_INTERRUPTED;
        }
    }
    return LW_OK;
}

#else

static lw_status run_tasks(lw_context *context, int64_t count, lw_task *task, const void *argument) {
    int running = lw_running_threads(); /* a thread without a processor would start tasks for which others wait */
    int threads = context->threads < running ? (int)context->threads : running;
    return lw_share_tasks(context, threads, count, task, argument, interrupted);
}

/* lanewise/backends/threads.py checks the number before it calls this function; the check here is for other callers. */
static PyObject *set_num_threads(PyObject *module, PyObject *number) {
    Py_ssize_t threads = PyNumber_AsSsize_t(number, NULL);
    if (threads < 1 || threads > LW_MAX_THREADS) {
        return lw_named("set_num_threads",
                        lw_raise(LW_ARGUMENT_ERROR, "expected an int from 1 to %d, got %zd", LW_MAX_THREADS, threads));
    }
    lw_set_threads((int)threads);
    return Py_NewRef(Py_None);
}

static PyObject *get_num_threads(PyObject *module, PyObject *unused) { return PyLong_FromLongLong(lw_threads()); }

static PyObject *get_running_threads(PyObject *module, PyObject *unused) {
    return PyLong_FromLongLong(lw_running_threads());
}

/* Sets how many microseconds threads spin, and returns how many they did before. lanewise/backends/threads.py checks
 * the number, too. */
static PyObject *set_spin(PyObject *module, PyObject *number) {
    Py_ssize_t microseconds = PyNumber_AsSsize_t(number, NULL);
    if (microseconds < 0 || microseconds > LW_MAX_SPIN) {
        return lw_raise(LW_ARGUMENT_ERROR, "expected microseconds from 0 to %d, got %zd", LW_MAX_SPIN, microseconds);
    }
    return PyLong_FromLongLong(lw_set_spin((int)microseconds));
}

PyMethodDef lw_thread_functions[] = {
    {"set_num_threads", set_num_threads, METH_O, NULL},
    {"get_num_threads", get_num_threads, METH_NOARGS, NULL},
    {"get_running_threads", get_running_threads, METH_NOARGS, NULL},
    {"set_main_thread", set_main_thread, METH_O, NULL},
    {"set_spin", set_spin, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

#endif

/* Allocates scratch. If memory runs out, frees all cached blocks and retries. The GIL guards the cache of storages, so
 * a thread that does not hold the GIL acquires it first, unless Python is ending; see handles_signals(). */
static void *allocate(lw_context *context, size_t bytes) {
    void *memory = lw_aligned_allocate(bytes);
    if (memory) {
        return memory;
    }
    int is_released = !context->host || ((host *)context->host)->thread;
#if !defined(__wasm__)
    if (is_released && !Py_IsInitialized()) {
        return NULL;
    }
#endif
    PyGILState_STATE state = is_released ? PyGILState_Ensure() : PyGILState_LOCKED;
    lw_storage_trim(NULL);
    if (is_released) {
        PyGILState_Release(state);
    }
    return lw_aligned_allocate(bytes);
}

static void release(lw_context *context, void *memory) { lw_aligned_free(memory); }

static void set_cache_sizes(lw_context *context) {
    static size_t cache_bytes = SIZE_MAX, l2_bytes;
    if (cache_bytes == SIZE_MAX) {
        cache_bytes = lw_cpu_cache_bytes();
        l2_bytes = lw_cpu_l2_bytes();
    }
    context->cache_bytes = cache_bytes;
    context->l2_bytes = l2_bytes;
}

static void raise_status(lw_status status, const lw_context *context, const lw_scalar *parameters) {
    switch (status) {
    case LW_INTERRUPTED: /* PyErr_CheckSignals has set KeyboardInterrupt */
        break;
    case LW_NO_MEMORY:
        lw_raise(LW_OUT_OF_MEMORY_ERROR,
                 "cannot allocate the kernel's scratch memory; use smaller arrays, or release some");
        break;
    case LW_BAD_INDEX: /* only kernels run by gather.c: parameters[0] is the axis's extent, [2] its number */
        lw_raise_index(context->bad_index, (int)parameters[2].i, parameters[0].i);
        break;
    default:
        lw_raise(LW_DEVICE_FAULT, "the device failed: %s", context->message);
    }
}

lw_kernel *lw_find_kernel(int backend, int index) {
    const lw_library *library = lw_libraries[backend]; /* NULL for a GPU backend */
    lw_kernel *kernel = library && index >= 0 ? ((lw_kernel *const *)&library->kernels)[index] : NULL;
    if (!kernel) {
        lw_raise(LW_BACKEND_ERROR, "expected a backend with a kernel for these dtypes, got %s",
                 lw_backend_name(backend));
    }
    return kernel;
}

int lw_run(lw_kernel *kernel, const void *layout, const void *const *inputs, void *const *outputs,
           const lw_scalar *parameters, double nanoseconds) {
    if (!kernel) {
        return -1;
    }
    host host = {NULL, 0};
    lw_context context; /* `message` and `bad_index` stay uninitialized until a kernel sets them */
    context.run = run_tasks;
    context.allocate = allocate;
    context.release = release;
    context.host = &host;
    context.stream = NULL;
    context.threads = context.tasks = 1;
    context.cache_bytes = context.l2_bytes = 0; /* matter only to long runs, which set them below */
    lw_float_modes modes = lw_float_modes_set_default();
    lw_status status;
    if (lw_is_brief(nanoseconds)) {
        status = kernel(&context, layout, inputs, outputs, parameters);
    } else {
        context.threads = lw_threads_for(nanoseconds);
        context.tasks = lw_tasks_for(nanoseconds, context.threads);
        set_cache_sizes(&context);
        host.next_check = lw_milliseconds() + SIGNAL_CHECK_MILLISECONDS;
        host.thread = PyEval_SaveThread();
        status = kernel(&context, layout, inputs, outputs, parameters);
        PyEval_RestoreThread(host.thread);
    }
    lw_float_modes_restore(modes);
    if (status == LW_OK) {
        return 0;
    }
    raise_status(status, &context, parameters);
    return -1;
}
