/* Records dispatches of WGSL kernels, and hands them in batches to a player.
 *
 * The lock orders what threads ask of the player: while one of them plays a batch, Python may switch to another. The
 * thread that holds the lock takes whatever has been recorded by then, so batches reach the GPU in the order in which
 * they were recorded. */
#include "webgpu/recorder.h"
#include "device/devices.h"
#include "memory/memory.h"
#include "plan/cost.h"
#include "python/errors.h"
#include "python/python.h"
#include "tensor/storage.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_status fail(lw_recorder *recorder, lw_status status, const char *message) {
    snprintf(recorder->device.message, sizeof recorder->device.message, "%s", message);
    return status;
}

/* Sets is_lost if the player says that the device is lost. Must be called with no error set. */
static void check_loss(lw_recorder *recorder) {
    lw_device *device = &recorder->device;
    PyObject *lost = PyObject_GetAttrString(recorder->player, "lost");
    if (lost && PyObject_IsTrue(lost) > 0 && !device->is_lost) {
        device->is_lost = 1;
        lw_copy_text(lost, device->message, sizeof device->message);
        recorder->count = 0;
    }
    PyErr_Clear();
    Py_XDECREF(lost);
}

/* Turns an error that the player raised into a status. Errors that are no Exception, such as KeyboardInterrupt, stay
 * set. */
static lw_status player_failed(lw_recorder *recorder) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return LW_INTERRUPTED;
    }
    lw_status status = PyErr_ExceptionMatches(lw_error_class(LW_OUT_OF_MEMORY_ERROR)) ? LW_NO_MEMORY : LW_DEVICE_ERROR;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    lw_copy_text(error, recorder->device.message, sizeof recorder->device.message);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    check_loss(recorder);
    return recorder->device.is_lost ? LW_DEVICE_ERROR : status;
}

/* Takes over the reference to a result of the player's. */
static lw_status check_played(lw_recorder *recorder, PyObject *result) {
    Py_XDECREF(result);
    return result ? LW_OK : player_failed(recorder);
}

/* Sets `number` to that of an attribute which the player need not have. Returns -1 with an error set on failure. */
static int read_optional(PyObject *player, const char *name, int64_t *number) {
    PyObject *attribute = PyObject_GetAttrString(player, name);
    if (!attribute && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return 0;
    }
    *number = attribute ? PyLong_AsLongLong(attribute) : 0;
    Py_XDECREF(attribute);
    return PyErr_Occurred() ? -1 : 0;
}

lw_recorder *lw_recorder_new(PyObject *player, const lw_limits *limits) {
    lw_recorder *recorder = calloc(1, sizeof *recorder);
    PyObject *lock = recorder ? PyObject_GetAttrString(player, "lock") : PyErr_NoMemory();
    if (!lock) {
        free(recorder);
        return NULL;
    }
    recorder->player = Py_NewRef(player);
    recorder->lock = lock;
    recorder->limits = *limits;
    recorder->limits.tiles = 1;
    recorder->limits.workgroup_bytes = 16384;
    recorder->batch = 1; /* no block has been used yet */
    if (read_optional(player, "max_rounds", &recorder->limits.rounds) < 0 ||
        read_optional(player, "compiles_tiles", &recorder->limits.tiles) < 0 ||
        read_optional(player, "max_workgroup_bytes", &recorder->limits.workgroup_bytes) < 0) {
        lw_recorder_free(recorder);
        return NULL;
    }
    return recorder;
}

void lw_recorder_free(lw_recorder *recorder) {
    Py_DECREF(recorder->player);
    Py_DECREF(recorder->lock);
    free(recorder->chains);
    free(recorder);
}

static lw_status lock(lw_recorder *recorder) {
    return recorder->device.is_lost ? LW_DEVICE_ERROR
                                    : check_played(recorder, PyObject_CallMethod(recorder->lock, "acquire", NULL));
}

/* Releases the lock, whether or not an error is set. Returns `status`. */
static lw_status unlock(lw_recorder *recorder, lw_status status) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    Py_XDECREF(PyObject_CallMethod(recorder->lock, "release", NULL));
    PyErr_Restore(type, error, traceback);
    return status;
}

/* Reports the launches whose dispatches failed: a list of (position, message). */
static lw_status report_failures(lw_recorder *recorder, PyObject *failures, const int64_t *launch_ids, int count) {
    for (Py_ssize_t i = 0; lw_is_list(failures) && i < PyList_Size(failures); i++) {
        PyObject *failure = PyList_GetItem(failures, i);
        int is_pair = lw_is_tuple(failure) && PyTuple_Size(failure) == 2;
        long long position = is_pair ? PyLong_AsLongLong(PyTuple_GetItem(failure, 0)) : -1;
        PyErr_Clear(); /* of something that is not a number */
        if (position >= 0 && position < count) {
            char message[sizeof recorder->device.message];
            lw_copy_text(PyTuple_GetItem(failure, 1), message, sizeof message);
            lw_fail_launch(&recorder->device, launch_ids[position], LW_DEVICE_FAULT, message);
        }
    }
    return LW_OK;
}

/* Hands the batch to the player. Launches that fail are reported late, which does not make this function fail.
 * `is_read_next` says whether a read follows, which then submits both. The caller has the lock. */
static lw_status play(lw_recorder *recorder, int is_read_next) {
    int count = recorder->count;
    int64_t launch_ids[LW_BATCH];
    memcpy(launch_ids, recorder->launch_ids, sizeof launch_ids);
    PyObject *dispatches = PyBytes_FromStringAndSize((const char *)recorder->dispatches,
                                                     (Py_ssize_t)((size_t)count * sizeof(lw_dispatch))),
             *parameters = PyBytes_FromStringAndSize((const char *)recorder->parameters,
                                                     (Py_ssize_t)((size_t)count * sizeof recorder->parameters[0]));
    recorder->count = 0;
    recorder->work = 0;
    recorder->batch++;
    recorder->device.counters[LW_SUBMISSIONS]++;
    PyObject *failures = dispatches && parameters ? PyObject_CallMethod(recorder->player, "play", "OOi", dispatches,
                                                                        parameters, is_read_next)
                                                  : NULL;
    Py_XDECREF(dispatches);
    Py_XDECREF(parameters);
    lw_status status = failures ? report_failures(recorder, failures, launch_ids, count) : player_failed(recorder);
    Py_XDECREF(failures);
    for (int i = 0; status != LW_OK && !recorder->device.is_lost && i < count; i++) {
        const char *message = status == LW_INTERRUPTED ? "Ctrl-C interrupted it" : recorder->device.message;
        lw_fail_launch(&recorder->device, launch_ids[i],
                       status == LW_NO_MEMORY ? LW_OUT_OF_MEMORY_ERROR : LW_DEVICE_FAULT, message);
    }
    return status == LW_INTERRUPTED || recorder->device.is_lost ? status : LW_OK;
}

/* Destroys what was released. No recorded dispatch may use them; the caller has the lock. */
static void destroy_released(lw_recorder *recorder) {
    while (recorder->released_count) {
        long long number = recorder->released[--recorder->released_count];
        const char *method = number < LW_FIRST_CHAIN ? "destroy" : "discard";
        PyObject *result = PyObject_CallMethod(recorder->player, method, "L", number);
        if (!result) {
            PyErr_Clear(); /* nobody is left to whom it matters */
        }
        Py_XDECREF(result);
    }
}

/* Destroys what had been released by the time that all recorded work was taken: `released` buffers. Later ones may be
 * in use by what has been recorded meanwhile. */
static void destroy_unused(lw_recorder *recorder, lw_status status, size_t released) {
    if (status == LW_OK && recorder->count == 0 && recorder->released_count == released) {
        destroy_released(recorder);
    }
}

/* Submits what has been recorded. The caller has the lock. */
static lw_status submit(lw_recorder *recorder) {
    size_t released = recorder->released_count;
    lw_status status = recorder->count ? play(recorder, 0) : LW_OK;
    destroy_unused(recorder, status, released);
    return status;
}

lw_status lw_recorder_flush(lw_device *device) {
    lw_recorder *recorder = (lw_recorder *)device;
    lw_status status = lock(recorder);
    return status == LW_OK ? unlock(recorder, submit(recorder)) : status;
}

/* Creates a buffer. Sets `data` to its address. */
static lw_status add_buffer(lw_recorder *recorder, size_t bytes, char **data) {
    lw_block *block = lw_add_block(&recorder->addresses, bytes);
    if (!block) {
        return fail(recorder, LW_NO_MEMORY, "the host has no memory or addresses left for another buffer");
    }
    *data = block->data;
    recorder->allocated += bytes;
    long long number = block->number;
    lw_status status =
        check_played(recorder, PyObject_CallMethod(recorder->player, "create", "LL", number, (long long)bytes));
    if (status != LW_OK) {
        lw_remove_block(&recorder->addresses, lw_find_block(&recorder->addresses, *data));
        recorder->allocated -= bytes;
    }
    return status;
}

/* Creates several buffers with consecutive addresses for a storage that is larger than the device's largest buffer. */
static lw_status add_parts(lw_recorder *recorder, size_t bytes, char **data) {
    size_t part_bytes = recorder->limits.buffer / LW_BLOCK_ALIGNMENT * LW_BLOCK_ALIGNMENT, done = 0;
    lw_status status = part_bytes ? LW_OK : fail(recorder, LW_NO_MEMORY, "buffers of this device are too small");
    for (char *part; status == LW_OK && done < bytes; done += part_bytes) {
        status = add_buffer(recorder, bytes - done < part_bytes ? bytes - done : part_bytes, &part);
        if (status != LW_OK) {
            break;
        }
        *data = done ? *data : part;
        lw_find_block(&recorder->addresses, part)->is_part = 1;
        recorder->parts++;
        if (part != *data + done) { /* addresses are scarce on 32-bit hosts only */
            lw_recorder_release(&recorder->device, part, 1);
            status = fail(recorder, LW_NO_MEMORY,
                          "the host has no consecutive addresses left for a tensor in several buffers");
            break;
        }
    }
    if (status != LW_OK && done) {
        lw_recorder_release(&recorder->device, *data, done);
    }
    return status;
}

lw_status lw_recorder_allocate(lw_device *device, size_t bytes, char **data) {
    lw_recorder *recorder = (lw_recorder *)device;
    const lw_limits *limits = &recorder->limits;
    if (device->is_lost) {
        return LW_DEVICE_ERROR;
    }
    size_t left = limits->budget > recorder->allocated ? limits->budget - recorder->allocated : 0;
    if (limits->budget && bytes > left) {
        char message[256];
        snprintf(
            message, sizeof message,
            "it may use %llu bytes, of which %llu are in use (the limit is LANEWISE_WGPU_MEMORY, or by default the "
            "memory that the adapter shares with the CPU)",
            (unsigned long long)limits->budget, (unsigned long long)recorder->allocated);
        return fail(recorder, LW_NO_MEMORY, message);
    }
    if (recorder->count == 0 && recorder->released_count && lw_recorder_flush(device) != LW_OK) {
        return device->is_lost ? LW_DEVICE_ERROR : LW_INTERRUPTED;
    }
    return limits->buffer && bytes > limits->buffer ? add_parts(recorder, bytes, data)
                                                    : add_buffer(recorder, bytes, data);
}

void lw_destroy_later(lw_recorder *recorder, uint32_t number) {
    uint32_t *released =
        lw_with_room(recorder->released, recorder->released_count, &recorder->released_capacity, sizeof number);
    if (released) { /* or else it is lost, but nothing else is */
        recorder->released = released;
        released[recorder->released_count++] = number;
    }
}

/* Removes a buffer, which is destroyed later. Returns its size. */
static size_t remove_buffer(lw_recorder *recorder, const char *data) {
    lw_block *block = lw_find_block(&recorder->addresses, data);
    size_t bytes = block->bytes;
    recorder->allocated -= bytes;
    recorder->parts -= block->is_part;
    lw_destroy_later(recorder, block->number);
    lw_remove_block(&recorder->addresses, block);
    return bytes;
}

void lw_recorder_release(lw_device *device, char *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        done += remove_buffer((lw_recorder *)device, data + done);
    }
}

/* Calls a method of the player's that copies between `memory` and a block. */
static lw_status copy(lw_recorder *recorder, const char *method, const char *data, void *memory, size_t bytes,
                      int flags) {
    const lw_block *block = lw_find_block(&recorder->addresses, data);
    PyObject *view = PyMemoryView_FromMemory(memory, (Py_ssize_t)bytes, flags);
    PyObject *result = view ? PyObject_CallMethod(recorder->player, method, "LLO", (long long)block->number,
                                                  (long long)(data - block->data), view)
                            : NULL;
    Py_XDECREF(view);
    return check_played(recorder, result);
}

/* WebGPU copies whole words. If bytes are left over, writes zeros behind them: `to` is the start of a block, which has
 * no other contents. */
static lw_status write_words(lw_recorder *recorder, char *to, const char *from, size_t bytes) {
    size_t whole = bytes & ~(size_t)3;
    uint32_t rest = 0;
    lw_status status = whole ? copy(recorder, "write", to, (void *)from, whole, PyBUF_READ) : LW_OK;
    if (status == LW_OK && whole < bytes) {
        memcpy(&rest, from + whole, bytes - whole);
        status = copy(recorder, "write", to + whole, &rest, sizeof rest, PyBUF_READ);
    }
    return status;
}

/* Returns how many of the bytes from an address on are in the same block. */
static size_t bytes_of_block(const lw_recorder *recorder, const char *data, size_t bytes) {
    const lw_block *block = lw_find_block(&recorder->addresses, data);
    size_t left = (size_t)(block->data + block->bytes - data);
    return left < bytes ? left : bytes;
}

lw_status lw_recorder_write(lw_device *device, char *to, const void *from, size_t bytes) {
    lw_recorder *recorder = (lw_recorder *)device;
    lw_status status = lock(recorder);
    if (status != LW_OK) {
        return status;
    }
    for (size_t done = 0, part; status == LW_OK && done < bytes; done += part) {
        part = bytes_of_block(recorder, to + done, bytes - done);
        if (lw_find_block(&recorder->addresses, to + done)->batch == recorder->batch) {
            status = submit(recorder); /* or else the write would run before the dispatches that use the block */
        }
        status = status == LW_OK ? write_words(recorder, to + done, (const char *)from + done, part) : status;
    }
    return unlock(recorder, status);
}

/* Reads the words that contain the bytes. */
static lw_status read_words(lw_recorder *recorder, char *to, const char *from, size_t bytes) {
    size_t before = (uintptr_t)from & 3, words = (before + bytes + 3) & ~(size_t)3;
    if (words == bytes) {
        return copy(recorder, "read", from, to, bytes, PyBUF_WRITE);
    }
    char *buffer = malloc(words);
    if (!buffer) {
        return fail(recorder, LW_NO_MEMORY, "the host has no memory left for a copy");
    }
    lw_status status = copy(recorder, "read", from - before, buffer, words, PyBUF_WRITE);
    if (status == LW_OK) {
        memcpy(to, buffer + before, bytes);
    }
    free(buffer);
    return status;
}

lw_status lw_recorder_read(lw_device *device, void *to, const char *from, size_t bytes) {
    lw_recorder *recorder = (lw_recorder *)device;
    lw_status status = lock(recorder);
    if (status != LW_OK) {
        return status;
    }
    size_t released = recorder->released_count;
    status = recorder->count ? play(recorder, bytes > 0) : LW_OK;
    for (size_t done = 0, part; status == LW_OK && done < bytes; done += part) {
        part = bytes_of_block(recorder, from + done, bytes - done);
        status = read_words(recorder, (char *)to + done, from + done, part);
    }
    destroy_unused(recorder, status, released);
    return unlock(recorder, status);
}

lw_status lw_record(lw_recorder *recorder, const lw_dispatch *dispatch, const char *const *bindings,
                    const uint32_t *parameters, int64_t launch_id) {
    while (recorder->count == LW_BATCH) { /* another thread is playing the batch before */
        lw_status status = lw_recorder_flush(&recorder->device);
        if (status != LW_OK) {
            return status;
        }
    }
    recorder->device.counters[LW_DISPATCHES]++;
    int position = recorder->count++;
    lw_dispatch *recorded = &recorder->dispatches[position];
    *recorded = *dispatch;
    for (int i = 0; i < LW_MAX_BINDINGS; i++) {
        lw_block *block = bindings[i] ? lw_find_block(&recorder->addresses, bindings[i]) : NULL;
        recorded->buffers[i] = block ? block->number : 0;
        if (block) {
            block->batch = recorder->batch;
        }
    }
    memcpy(recorder->parameters[position], parameters, sizeof recorder->parameters[0]);
    recorder->launch_ids[position] = launch_id;
    return recorder->count == LW_BATCH ? lw_recorder_flush(&recorder->device) : LW_OK;
}

lw_status lw_add_work(lw_recorder *recorder, double nanoseconds) {
    recorder->work += nanoseconds;
    return recorder->count && lw_fills_gpu(recorder->work) ? lw_recorder_flush(&recorder->device) : LW_OK;
}

int lw_recorder_compile(lw_recorder *recorder, uint32_t number, const uint8_t *key, size_t length) {
    lw_status status = lock(recorder);
    int is_ready = 0;
    if (status == LW_OK) {
        PyObject *bytes = PyBytes_FromStringAndSize((const char *)key, (Py_ssize_t)length);
        PyObject *answer =
            bytes ? PyObject_CallMethod(recorder->player, "compile", "LO", (long long)number, bytes) : NULL;
        is_ready = answer && PyObject_IsTrue(answer) > 0;
        Py_XDECREF(bytes);
        status = unlock(recorder, check_played(recorder, answer));
    }
    return status == LW_INTERRUPTED ? -2 : status == LW_OK ? is_ready : -1;
}
