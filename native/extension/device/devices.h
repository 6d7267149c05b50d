/* What the extension does with devices. Each function returns 0, or -1 with an error set. */
#pragma once

#include "plan/operand.h"
#include "python/errors.h"

/* Lets launches of a device fail. */
int lw_begin_flight(lw_device *device);
/* Makes a device that of a backend, in place of an earlier one, whose tensors are lost. */
int lw_open_device(int backend, lw_device *device);

/* Launches a plan, whose operands and results are all on the device, or numbers. `storages` has those of the operands,
 * or NULL, and from LW_MAX_INPUTS on those of the results, whose elements begin at `outputs`. */
int lw_launch(lw_device *device, const lw_plan *plan, lw_storage *const *storages, char *const *outputs);
/* Launches a chain as one kernel, which reads the first `read_count` storages and writes the others. */
int lw_launch_chain(lw_device *device, const lw_chain *chain, lw_storage *const *storages, int read_count, int count);
/* For devices: says that a launch has failed. Reading what it was to write raises this error. */
void lw_fail_launch(lw_device *device, int64_t launch_id, lw_error error, const char *message);
/* Turns the error that is set into the failure of a launch that was to write a storage. Returns 0, or -1 if the error
 * is that of Ctrl-C, which stays set. */
int lw_fail_storage(lw_device *device, lw_storage *storage);
/* Raises the error of the launch with this id, if that failed. Returns -1 if so, else 0. */
int lw_check_written(const lw_device *device, int64_t launch_id);

/* Copies the elements of a contiguous tensor or operand from the host to its device, or from there to the host. */
int lw_upload(const lw_tensor *to, const void *from);
int lw_download(void *to, const lw_operand *from);
