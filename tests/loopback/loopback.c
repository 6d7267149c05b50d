/* A device made for tests, linked into a test build of the extension in place of module.c. Its memory is the host's,
 * but behind addresses that cannot be accessed, so that code of the extension that follows them crashes. Launches are
 * kept until a read or a flush, and then run by the CPU's kernels. Each fault that a device can have can be switched
 * on. */
#define _GNU_SOURCE /* MAP_NORESERVE, nanosleep */
#define PyInit__ext init_without_loopback
#include "python/module.c"
#undef PyInit__ext

#include "device/devices.h"
#include "memory/memory.h"
#include "plan/plan.h"
#include "system/float_modes.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SPACE ((size_t)1 << 34) /* bytes of addresses; no device returns them, and a process opens a thousand */
enum { BATCH = 64, CLASSES = 64, LOGGED = 4096 };

/* The faults. Each strikes once, at the event after `countdown` others. */
typedef enum fault { NO_FAULT, LATE, AT_ONCE, REFUSAL, LOSS, NO_MEMORY, NO_WRITE, NO_READ, CTRL_C, FAULT_COUNT } fault;
static const char *const fault_names[FAULT_COUNT] = {"none",   "late",  "at once", "refusal", "loss",
                                                     "memory", "write", "read",    "Ctrl-C"};

typedef struct record {
    lw_plan plan; /* its operands' data are addresses of the device, or in the operand itself */
    char *outputs[LW_MAX_RESULTS];
    int64_t launch_id;
    int fails;
} record;

typedef struct freed {
    size_t bytes;
    char *data;
} freed;

typedef struct loopback {
    lw_device device;
    char *memory; /* where the data really are */
    char *shown;  /* the address of that memory for everyone else, where nothing can be accessed */
    size_t used;
    freed *freed;
    size_t freed_count;
    int64_t live_blocks;
    record *records;
    int record_count;
} loopback;

static fault armed;
static int64_t countdown;
static double read_seconds; /* how long a read sleeps */
static PyObject *log_of_launches;

static char *real(const loopback *device, const char *data) { return device->memory + (data - device->shown); }

static int strikes(fault fault) {
    if (armed != fault || countdown-- > 0) {
        return 0;
    }
    armed = NO_FAULT;
    return 1;
}

static lw_status fail(lw_device *device, const char *message) {
    strcpy(device->message, message);
    return LW_DEVICE_ERROR;
}

static lw_status lose(lw_device *device) {
    device->is_lost = 1;
    return fail(device, "the loss was asked for");
}

static lw_status allocate(lw_device *base, size_t bytes, char **data) {
    loopback *device = (loopback *)base;
    if (base->is_lost) {
        return LW_DEVICE_ERROR;
    }
    if (strikes(NO_MEMORY)) {
        armed = NO_MEMORY; /* the next attempt fails, too, until the fault is switched off */
        countdown = 0;
        return LW_NO_MEMORY;
    }
    bytes = (bytes + 63) & ~(size_t)63;
    *data = NULL;
    for (size_t i = 0; i < device->freed_count && !*data; i++) {
        if (device->freed[i].bytes == bytes) {
            *data = device->freed[i].data;
            device->freed[i] = device->freed[--device->freed_count];
        }
    }
    if (!*data && bytes > SPACE - device->used) {
        return LW_NO_MEMORY;
    }
    if (!*data) {
        *data = device->shown + device->used;
        device->used += bytes;
    }
    memset(real(device, *data), 0xab, bytes);
    device->live_blocks++;
    return LW_OK;
}

static lw_status flush(lw_device *base);

static void release(lw_device *base, char *data, size_t bytes) {
    loopback *device = (loopback *)base;
    flush(base);
    freed *freed = realloc(device->freed, (device->freed_count + 1) * sizeof *freed);
    if (freed) {
        device->freed = freed;
        freed[device->freed_count].bytes = (bytes + 63) & ~(size_t)63;
        freed[device->freed_count++].data = data;
    }
    device->live_blocks--;
}

static void *allocate_scratch(lw_context *context, size_t bytes) {
    (void)context;
    return lw_aligned_allocate(bytes);
}

static void release_scratch(lw_context *context, void *memory) {
    (void)context;
    lw_aligned_free(memory);
}

/* Runs a kernel of take or put for one element after another, since an index is out of range: take clamps it, as a GPU
 * does, and put leaves it out. */
static lw_status gather_each(lw_context *context, lw_kernel *kernel, const lw_plan *plan, const void *const *inputs,
                             void *const *outputs) {
    const lw_layout *layout = &plan->layout;
    int32_t extent = (int32_t)plan->parameters[0].i, index;
    lw_layout single = {.ndim = 0};
    lw_status status = LW_OK;
    for (int64_t element = 0; element < plan->steps && status == LW_OK; element++) {
        int64_t offsets[3] = {0}, rest = element;
        for (int axis = layout->ndim - 1; axis >= 0; rest /= layout->shape[axis--]) {
            for (int operand = 0; operand < 3; operand++) {
                offsets[operand] += rest % layout->shape[axis] * layout->strides[operand][axis];
            }
        }
        memcpy(&index, (const char *)inputs[1] + offsets[1], sizeof index);
        if (index < -extent || index >= extent) {
            index = index < 0 ? 0 : extent - 1;
            if (plan->operation == lw_find_operation("put")) {
                continue;
            }
        }
        const void *from[] = {(const char *)inputs[0] + offsets[0], &index};
        void *to[] = {(char *)outputs[0] + offsets[2]};
        status = kernel(context, &single, from, to, plan->parameters);
    }
    return status;
}

static void run(loopback *device, const record *record) {
    const lw_plan *plan = &record->plan;
    const void *inputs[LW_MAX_INPUTS];
    void *outputs[LW_MAX_RESULTS];
    for (int i = 0; i < plan->operation->input_count; i++) {
        const lw_operand *operand = &plan->operands[i];
        inputs[i] = lw_is_number(operand) || !operand->data ? operand->data : real(device, operand->data);
    }
    for (int i = 0; i < plan->result_count; i++) {
        outputs[i] = real(device, record->outputs[i]);
    }
    lw_context context = {.allocate = allocate_scratch, .release = release_scratch};
    lw_kernel *kernel = ((lw_kernel *const *)&lw_libraries[lw_host_placement().backend]->kernels)[plan->kernel];
    lw_float_modes modes = lw_float_modes_set_default();
    lw_status status = kernel(&context, &plan->layout, inputs, outputs, plan->parameters);
    if (status == LW_BAD_INDEX) {
        status = gather_each(&context, kernel, plan, inputs, outputs);
    }
    lw_float_modes_restore(modes);
    if (status != LW_OK || record->fails) {
        lw_fail_launch(&device->device, record->launch_id, LW_DEVICE_FAULT,
                       record->fails ? "the fault was asked for" : "the kernel has no memory");
    }
}

static lw_status flush(lw_device *base) {
    loopback *device = (loopback *)base;
    if (base->is_lost) {
        device->record_count = 0;
        return LW_DEVICE_ERROR;
    }
    for (int i = 0; i < device->record_count; i++) {
        run(device, &device->records[i]);
    }
    device->record_count = 0;
    return LW_OK;
}

/* Notes what a launch computes: (operation, operands that are read, steps, bytes, flops). */
static void note(const lw_plan *plan) {
    int64_t operands = 0;
    for (int i = 0; i < plan->operation->input_count; i++) {
        operands += plan->operands[i].data != NULL;
    }
    int64_t numbers[] = {operands, plan->steps, lw_moved_bytes(plan), plan->steps * plan->operation->step_flops};
    PyObject *entry = PyTuple_New(2), *name = PyUnicode_FromString(plan->operation->name),
             *values = lw_int_tuple(4, numbers);
    if (entry && name && values) {
        PyTuple_SetItem(entry, 0, name);
        PyTuple_SetItem(entry, 1, values);
        PyList_Append(log_of_launches, entry);
    }
    Py_XDECREF(entry);
}

static lw_status launch(lw_device *base, const lw_plan *plan, char *const *outputs, int64_t launch_id) {
    loopback *device = (loopback *)base;
    if (base->is_lost) {
        return LW_DEVICE_ERROR;
    }
    if (strikes(LOSS)) {
        return lose(base);
    }
    if (strikes(AT_ONCE)) {
        return fail(base, "the fault was asked for");
    }
    if (strikes(REFUSAL)) {
        fail(base, "the refusal was asked for");
        return LW_REFUSED;
    }
    if (log_of_launches) {
        note(plan);
    }
    record *record = &device->records[device->record_count++];
    record->plan = *plan;
    record->launch_id = launch_id;
    record->fails = strikes(LATE);
    memcpy(record->outputs, outputs, sizeof(char *) * (size_t)plan->result_count);
    for (int i = 0; i < plan->operation->input_count; i++) {
        if (lw_is_number(&plan->operands[i])) {
            record->plan.operands[i].data = (const char *)&record->plan.operands[i].scalar;
        }
    }
    return device->record_count == BATCH ? flush(base) : LW_OK;
}

static lw_status write_to(lw_device *base, char *to, const void *from, size_t bytes) {
    lw_status status = strikes(NO_WRITE) ? fail(base, "the fault was asked for") : flush(base);
    if (status == LW_OK) {
        memcpy(real((loopback *)base, to), from, bytes);
    }
    return status;
}

static lw_status read_from(lw_device *base, void *to, const char *from, size_t bytes) {
    lw_status status = strikes(NO_READ) ? fail(base, "the fault was asked for") : flush(base);
    if (status == LW_OK && read_seconds > 0) {
        PyThreadState *thread = PyEval_SaveThread();
        struct timespec time = {(time_t)read_seconds, (long)((read_seconds - (double)(time_t)read_seconds) * 1e9)};
        nanosleep(&time, NULL);
        PyEval_RestoreThread(thread);
    }
    if (strikes(CTRL_C) && raise(SIGINT) == 0 && PyErr_CheckSignals() < 0) {
        return LW_INTERRUPTED;
    }
    if (status == LW_OK) {
        memcpy(to, real((loopback *)base, from), bytes);
    }
    return status;
}

/* open_loopback(): makes a new device that of the backend wgpu. */
static PyObject *open_loopback(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    loopback *device = calloc(1, sizeof *device);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    device->memory = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, flags, -1, 0);
    device->shown = mmap(NULL, SPACE, PROT_NONE, flags, -1, 0);
    device->records = malloc(sizeof(record) * BATCH);
    if (device->memory == MAP_FAILED || device->shown == MAP_FAILED || !device->records) {
        return PyErr_NoMemory();
    }
    device->device = (lw_device){.name = "wgpu",
                                 .allocate = allocate,
                                 .release = release,
                                 .write = write_to,
                                 .read = read_from,
                                 .launch = launch,
                                 .flush = flush,
                                 .cache_limit = 256 << 20};
    if (lw_open_device(LW_BACKEND_WGPU, &device->device) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

/* inject(fault, countdown): switches on a fault, which strikes at the event after `countdown` others. */
static PyObject *inject(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    (void)self;
    for (int i = 0; i < FAULT_COUNT && count == 2; i++) {
        if (PyUnicode_CompareWithASCIIString(arguments[0], fault_names[i]) == 0) {
            armed = (fault)i;
            countdown = PyLong_AsLongLong(arguments[1]);
            return Py_NewRef(Py_None);
        }
    }
    return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (fault, countdown)");
}

static PyObject *slow_reads(PyObject *self, PyObject *seconds) {
    (void)self;
    read_seconds = PyFloat_AsDouble(seconds);
    return Py_NewRef(Py_None);
}

/* without(operation): takes away the kernels of an operation without variants. */
static PyObject *without(PyObject *self, PyObject *name) {
    (void)self;
    const lw_operation *operation = lw_find_operation(PyUnicode_AsUTF8AndSize(name, NULL));
    uint8_t *kernels = malloc(LW_KERNEL_COUNT);
    if (!operation || !kernels) {
        free(kernels);
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected the name of an operation");
    }
    memset(kernels, 1, LW_KERNEL_COUNT);
    for (int dtype = 0; dtype < LW_DTYPE_COUNT; dtype++) {
        if (operation->kernels[0][dtype] >= 0) {
            kernels[operation->kernels[0][dtype]] = 0;
        }
    }
    lw_devices[LW_BACKEND_WGPU]->kernels = kernels; /* for good, as the device is */
    return Py_NewRef(Py_None);
}

/* Returns the blocks of the device that storages hold, cached ones included. */
static PyObject *live_blocks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromLongLong(((loopback *)lw_devices[LW_BACKEND_WGPU])->live_blocks);
}

/* launches(): returns the launches since the last call, and notes those that follow. */
static PyObject *launches(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    PyObject *before = log_of_launches ? log_of_launches : PyList_New(0);
    log_of_launches = PyList_New(0);
    return before;
}

static PyMethodDef loopback_functions[] = {
    {"open_loopback", open_loopback, METH_NOARGS, NULL},
    {"inject", (PyCFunction)(void *)inject, METH_FASTCALL, NULL},
    {"slow_reads", slow_reads, METH_O, NULL},
    {"live_blocks", live_blocks, METH_NOARGS, NULL},
    {"without", without, METH_O, NULL},
    {"launches", launches, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int execute_with_loopback(PyObject *self) {
    return execute(self) < 0 ? -1 : PyModule_AddFunctions(self, loopback_functions);
}

__attribute__((visibility("default"))) PyObject *PyInit__ext(void);
PyObject *PyInit__ext(void) {
    slots[0].value = (void *)execute_with_loopback;
    return PyModuleDef_Init(&definition);
}
