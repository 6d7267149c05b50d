/* What the extension does with devices. Each function returns 0, or -1 with an error set. */
#pragma once

#include "errors.h"
#include "operand.h"

/* Makes a device that of a backend, in place of an earlier one, whose tensors are lost. */
int lw_open_device(int backend, lw_device *device);

/* Launches a plan, whose operands and results are all on the device, or numbers. */
int lw_launch(lw_device *device, const lw_plan *plan, lw_tensor *const *results);
/* For devices: says that a launch has failed. Reading what it was to write raises this error. */
void lw_fail_launch(lw_device *device, int64_t number, lw_error error, const char *message);

/* Copies the elements of a contiguous tensor or operand from the host to its device, or from there to the host. */
int lw_upload(const lw_tensor *to, const void *from);
int lw_download(void *to, const lw_operand *from);
