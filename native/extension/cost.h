/* How long kernels are expected to take on one thread of the CPU. */
#pragma once

#include "operation.h"

/* Returns the time in nanoseconds by the operation's contract. */
double lw_nominal_nanoseconds(const lw_operation *operation, int64_t steps, int64_t bytes);
/* Returns the time in nanoseconds on this machine: steps take the time in the contract, multiplied by the rate that
 * lw.calibrate() measured on the fastest CPU backend; moving bytes takes as long as everywhere. In WebAssembly, where
 * workers.c compares nominal times, calibrate() measures no rates. */
#if defined(__wasm__)
#define lw_expected_nanoseconds lw_nominal_nanoseconds
#else
double lw_expected_nanoseconds(const lw_operation *operation, int64_t steps, int64_t bytes);
#endif

/* Reads a tuple (name of an operation, rate, ...) with `count` rates, which are measured times, divided by the
 * contract's. Returns the operation, or NULL, perhaps with an error set. */
const lw_operation *lw_read_rates(PyObject *row, double *rates, int count);
