/* What all devices share: the ids of launches, failures that come late, and copies to and from the host. A storage
 * remembers the id of the launch that wrote it. If a launch fails, so do the later ones that read what it wrote. */
#include "device/devices.h"
#include "memory/memory.h"
#include "plan/plan.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/python.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32) && !defined(__wasm__)
#include <pthread.h>
#endif

enum { MAX_READS = 8 }; /* as many buffers as a chain has */

typedef struct failure {
    int64_t launch_id;
    lw_error error;
    char message[sizeof((lw_device *)NULL)->message];
} failure;

typedef struct launch {
    int64_t launch_id;
    int64_t reads[MAX_READS]; /* the launches that wrote what this one reads; a result that existed before counts */
} launch;

struct lw_flight {
    int64_t last, last_failed; /* ids of launches */
    launch *launches;
    failure *failures;
    size_t launch_count, launch_capacity; /* the launches that may still fail */
    size_t failure_count, failure_capacity;
};

static const failure *find_failure(const lw_device *device, int64_t launch_id) {
    const lw_flight *flight = device->flight;
    for (size_t i = 0; launch_id && launch_id <= flight->last_failed && i < flight->failure_count; i++) {
        if (flight->failures[i].launch_id == launch_id) {
            return &flight->failures[i];
        }
    }
    return NULL;
}

/* Returns the failure of a launch that this one depends on, or NULL. */
static const failure *inherited(const lw_device *device, const launch *launch) {
    const failure *found = NULL;
    for (int i = 0; i < MAX_READS && !found; i++) {
        found = find_failure(device, launch->reads[i]);
    }
    return found;
}

static void lose(lw_device *device, const char *reason) {
    if (!device->is_lost) {
        device->is_lost = 1;
        snprintf(device->message, sizeof device->message, "%s", reason);
    }
}

static void add_failure(lw_device *device, failure added) {
    lw_flight *flight = device->flight;
    failure *failures = lw_with_room(flight->failures, flight->failure_count, &flight->failure_capacity, sizeof added);
    if (!failures) { /* no failure may be forgotten */
        lose(device, "no memory was left to note a failure");
        return;
    }
    flight->failures = failures;
    failures[flight->failure_count++] = added;
    flight->last_failed = added.launch_id > flight->last_failed ? added.launch_id : flight->last_failed;
}

void lw_fail_launch(lw_device *device, int64_t launch_id, lw_error error, const char *message) {
    const lw_flight *flight = device->flight;
    failure failed = {.launch_id = launch_id, .error = error};
    snprintf(failed.message, sizeof failed.message, "%s", message);
    add_failure(device, failed);
    for (size_t i = 0; i < flight->launch_count; i++) {
        const launch *later = &flight->launches[i];
        if (later->launch_id > launch_id && !find_failure(device, later->launch_id) && inherited(device, later)) {
            failed.launch_id = later->launch_id;
            add_failure(device, failed);
        }
    }
}

/* A device cannot be used by two processes, so the child of a fork has lost it. */
static __attribute__((unused)) void after_fork_in_child(void) {
    lw_host_device.ending = NULL; /* the child does not have the threads that compute these chains */
    for (int backend = 0; backend < LW_BACKEND_COUNT; backend++) {
        if (lw_devices[backend]) {
            lose(lw_devices[backend], "this process is a fork of the one that opened it");
        }
    }
}

static void watch_forks(void) {
#if !defined(_WIN32) && !defined(__wasm__)
    static int is_watching;
    is_watching = is_watching || pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
#endif
}

int lw_begin_flight(lw_device *device) {
    device->flight = calloc(1, sizeof *device->flight);
    watch_forks();
    return device->flight ? 0 : lw_refuse_memory();
}

int lw_open_device(int backend, lw_device *device) {
    device->pool = lw_pool_new(device->cache_limit);
    if (!device->pool || lw_begin_flight(device) < 0) {
        return -1;
    }
    if (lw_devices[backend]) {
        lose(lw_devices[backend], "reset() replaced it");
        lw_end_chain(lw_devices[backend]); /* releases what waits */
        lw_storage_trim(lw_devices[backend]);
        memcpy(device->counters, lw_devices[backend]->counters, sizeof device->counters);
        device->counters[LW_CHAINS_KEPT] = 0;
    }
    lw_devices[backend] = device;
    lw_has_devices = 1;
    return 0;
}

/* What is launched: a plan, or a chain. */
typedef struct work {
    const lw_plan *plan;
    char *const *outputs;
    const lw_chain *chain;
} work;

static lw_status start(lw_device *device, const work *work, int64_t launch_id) {
    return work->plan ? device->launch(device, work->plan, work->outputs, launch_id)
                      : device->launch_chain(device, work->chain, launch_id);
}

/* Launches what reads the first `read_count` storages and writes the others, some of which may be NULL. A launch also
 * depends on what wrote its results before. */
static int launch_work(lw_device *device, const work *work, lw_storage *const *storages, int read_count, int count) {
    lw_flight *flight = device->flight;
    launch next = {.launch_id = flight->last + 1};
    int reads = 0;
    for (int i = 0; i < count; i++) {
        if (storages[i] && storages[i]->device != device) { /* a lost one: operands on other devices were copied */
            return lw_check_device(storages[i]->device, LW_DEVICE_ERROR);
        }
        if (storages[i] && storages[i]->written && reads < MAX_READS) {
            next.reads[reads++] = storages[i]->written;
        }
    }
    launch *launches = lw_with_room(flight->launches, flight->launch_count, &flight->launch_capacity, sizeof *launches);
    if (!launches) {
        return lw_refuse_memory();
    }
    flight->launches = launches;
    flight->last++;
    const failure *earlier = inherited(device, &next);
    if (earlier && !device->is_lost) {
        failure failed = *earlier;
        failed.launch_id = next.launch_id;
        add_failure(device, failed);
    } else {
        launches[flight->launch_count++] = next; /* now, as the device may flush, and the launch fail, at once */
        if (lw_check_device(device, start(device, work, next.launch_id)) < 0) {
            size_t last = flight->launch_count - 1; /* of another thread, if that launched while a batch was played */
            flight->launch_count -= flight->launch_count && flight->launches[last].launch_id == next.launch_id;
            return -1;
        }
    }
    for (int i = read_count; i < count; i++) {
        storages[i]->written = next.launch_id;
    }
    return 0;
}

int lw_launch(lw_device *device, const lw_plan *plan, lw_storage *const *storages, char *const *outputs) {
    if (!lw_has_kernel(plan)) { /* only of put, copy and astype, which every device has to have */
        return lw_refuse(LW_BACKEND_ERROR, "expected a device with a kernel for these dtypes, got %s", device->name);
    }
    work work = {.plan = plan, .outputs = outputs};
    return launch_work(device, &work, storages, LW_MAX_INPUTS, LW_MAX_INPUTS + plan->result_count);
}

int lw_launch_chain(lw_device *device, const lw_chain *chain, lw_storage *const *storages, int read_count, int count) {
    if (device == &lw_host_device) { /* which does not return before it is done */
        return lw_check_device(device, device->launch_chain(device, chain, 0));
    }
    work work = {.chain = chain};
    return launch_work(device, &work, storages, read_count, count);
}

int lw_fail_storage(lw_device *device, lw_storage *storage) {
    int is_interrupt = !PyErr_ExceptionMatches(PyExc_Exception);
    int is_memory = !is_interrupt && PyErr_ExceptionMatches(lw_error_class(LW_OUT_OF_MEMORY_ERROR));
    failure failed = {.launch_id = ++device->flight->last,
                      .error = is_memory ? LW_OUT_OF_MEMORY_ERROR : LW_DEVICE_FAULT};
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    storage->written = failed.launch_id;
    if (is_interrupt) {
        snprintf(failed.message, sizeof failed.message, "Ctrl-C interrupted it");
        add_failure(device, failed);
        PyErr_Restore(type, error, traceback);
        return -1;
    }
    lw_copy_text(error, failed.message, sizeof failed.message);
    add_failure(device, failed);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return 0;
}

int lw_check_written(const lw_device *device, int64_t launch_id) {
    const failure *failed = find_failure(device, launch_id);
    if (device->is_lost || !failed) {
        return device->is_lost ? lw_check_device(device, LW_DEVICE_ERROR) : 0;
    }
    return lw_refuse(failed->error, "%s failed: %s", device->name, failed->message);
}

/* synchronize(backend): waits until the device of a backend has run all launches, by reading new memory. On the CPU,
 * runs those that wait in a chain. */
static PyObject *synchronize(PyObject *module, PyObject *name) {
    int backend = lw_parse_backend(name);
    lw_device *device = backend < 0 ? NULL : lw_devices[backend];
    if (backend >= 0 && lw_end_chain(lw_launcher(device)) < 0) {
        return NULL;
    }
    lw_storage *storage = device ? lw_storage_new(sizeof(int32_t), device) : NULL;
    int32_t word;
    lw_status status = storage ? device->read(device, &word, storage->data, sizeof word) : LW_OK;
    if (storage) {
        lw_storage_release(storage);
    }
    int is_done = backend >= 0 && (!device || storage) && lw_check_device(device, status) == 0;
    return is_done ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef lw_device_functions[] = {
    {"synchronize", synchronize, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int lw_upload(const lw_tensor *to, const void *from) {
    lw_device *device = to->storage->device;
    device->counters[LW_UPLOADS]++;
    return lw_check_device(device, device->write(device, to->data, from, (size_t)(to->size * lw_item_size(to->dtype))));
}

int lw_download(void *to, const lw_operand *from) {
    const lw_storage *storage = from->tensor->storage;
    lw_device *device = storage->device;
    lw_operand settled;
    lw_borrow_operand(from, from->ndim, &settled);
    if (lw_end_chain(device) < 0 || lw_settle_operand(&settled) < 0) {
        return -1;
    }
    lw_flight *flight = device->flight;
    int64_t last = flight->last, written = storage->written; /* now, as other threads may launch while this one reads */
    device->counters[LW_READBACKS]++;
    lw_status status = device->read(device, to, settled.data, (size_t)(from->size * lw_item_size(from->dtype)));
    if (lw_check_device(device, status) < 0) {
        return -1;
    }
    size_t kept = 0;
    for (size_t i = 0; i < flight->launch_count; i++) { /* the others have ended */
        if (flight->launches[i].launch_id > last) {
            flight->launches[kept++] = flight->launches[i];
        }
    }
    flight->launch_count = kept;
    return lw_check_written(device, written);
}
