/* The device of WebGPU, whose launches become dispatches that a player runs. */
#include "device/devices.h"
#include "lanewise_operations.h"
#include "lanewise_table.h"
#include "plan/cost.h"
#include "python/backends.h"
#include "python/errors.h"
#include "python/module.h"
#include "webgpu/shader.h"
#include "webgpu/webgpu_launch.h"

static lw_webgpu_launcher *const launchers[LW_KIND_COUNT] = {
    [LW_KIND_ELEMENTWISE] = lw_webgpu_elementwise,
    [LW_KIND_CAST] = lw_webgpu_elementwise,
    [LW_KIND_REDUCTION] = lw_webgpu_reduction,
    [LW_KIND_INDEX_REDUCTION] = lw_webgpu_reduction,
    [LW_KIND_ROWS] = lw_webgpu_rows,
    [LW_KIND_MATRIX] = lw_webgpu_matrix,
    [LW_KIND_WINDOW] = lw_webgpu_window,
    [LW_KIND_ATTENTION] = lw_webgpu_attention,
    [LW_KIND_ROTATION] = lw_webgpu_rotation,
    [LW_KIND_GATHER] = lw_webgpu_gather,
    [LW_KIND_SORT] = lw_webgpu_sort,
    [LW_KIND_SEARCH] = lw_webgpu_search,
    [LW_KIND_CREATION] = lw_webgpu_creation,
};

static lw_status launch_plan(lw_device *device, const lw_plan *plan, char *const *outputs, int64_t launch_id) {
    if (device->is_lost) {
        return LW_DEVICE_ERROR;
    }
    lw_webgpu_launch launch = {.recorder = (lw_recorder *)device,
                               .plan = plan,
                               .launch_id = launch_id,
                               .outputs = outputs,
                               .dispatch = {.kernel = (uint32_t)plan->kernel, .groups = {1, 1, 1}}};
    lw_webgpu_launcher *launcher = launchers[plan->operation->kind];
    if (launch.recorder->parts && lw_webgpu_crosses_blocks(&launch)) {
        lw_webgpu_launch_parts(&launch, launcher);
    } else {
        launcher(&launch);
    }
    lw_webgpu_release_scratch(&launch);
    double nanoseconds = lw_nominal_nanoseconds(plan->operation, plan->steps, lw_moved_bytes(plan));
    return launch.status == LW_OK ? lw_add_work(launch.recorder, nanoseconds) : launch.status;
}

/* Returns which kernels have a module, as lw_device.kernels. */
static const uint8_t *kernels_with_shader(void) {
    static uint8_t exists[LW_KERNEL_COUNT];
    for (int i = 0; i < LW_KERNEL_COUNT; i++) {
        exists[i] = lw_shaders[i].exists;
    }
    return exists;
}

/* open_webgpu(name, player, groups, buffer, budget, cache, fuses): opens the device of an adapter, which `name` gives:
 * "wgpu" or "wgpu:1". The numbers are those of lw_limits, and whether chains run as one kernel. */
static PyObject *open_webgpu(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    long long numbers[5] = {0};
    const char *name = count == 7 && lw_is_string(arguments[0]) ? PyUnicode_AsUTF8AndSize(arguments[0], NULL) : NULL;
    int backend = name ? lw_find_backend(name) : -1;
    for (int i = 0; i < 5 && backend >= 0; i++) {
        numbers[i] = PyLong_AsLongLong(arguments[i + 2]);
    }
    if (backend < LW_BACKEND_WGPU || backend >= LW_BACKEND_WGPU + LW_MAX_ADAPTERS || PyErr_Occurred()) {
        PyErr_Clear();
        return lw_raise(LW_ARGUMENT_TYPE_ERROR, "expected (name, player, groups, buffer, budget, cache, fuses)");
    }
    lw_limits limits = {.groups = (uint32_t)numbers[0],
                        .buffer = (size_t)numbers[1],
                        .budget = (size_t)numbers[2],
                        .cache = numbers[3]};
    lw_recorder *recorder = lw_recorder_new(arguments[1], &limits);
    if (!recorder) {
        return NULL;
    }
    recorder->device = (lw_device){.name = lw_backend_name(backend),
                                   .allocate = lw_recorder_allocate,
                                   .release = lw_recorder_release,
                                   .write = lw_recorder_write,
                                   .read = lw_recorder_read,
                                   .launch = launch_plan,
                                   .flush = lw_recorder_flush,
                                   .cache_limit = limits.cache,
                                   .max_block = limits.buffer,
                                   .kernels = kernels_with_shader(),
                                   .reads_stored = 1};
    if ((numbers[4] && lw_webgpu_begin_chains(recorder) < 0) || lw_open_device(backend, &recorder->device) < 0) {
        lw_recorder_free(recorder);
        return NULL;
    }
    return Py_NewRef(Py_None);
}

/* tile_names(): returns the names of the tiles of products. */
static PyObject *tile_names(PyObject *module, PyObject *unused) {
    PyObject *names = PyTuple_New(lw_tile_count);
    for (int i = 0; names && i < lw_tile_count; i++) {
        PyObject *name = PyUnicode_FromString(lw_tiles[i].name);
        if (!name || PyTuple_SetItem(names, i, name) < 0) {
            Py_DECREF(names);
            names = NULL;
        }
    }
    return names;
}

PyMethodDef lw_webgpu_functions[] = {
    {"tile_names", tile_names, METH_NOARGS, NULL},
    {"open_webgpu", (PyCFunction)(void *)open_webgpu, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
