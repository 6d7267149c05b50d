/* Turns errors of the CUDA runtime into a status of Lanewise and a message that names the operation. */
#pragma once

#include <cstdio>

#include <cuda_runtime_api.h>

#include "lanewise.h"

/* Evaluates a call. If it fails, writes the operation and the error to context->message, and returns LW_NO_MEMORY or
 * LW_DEVICE_ERROR from the enclosing function. */
#define CUDA_CHECK(context, operation, call)                                               \
    do {                                                                                   \
        cudaError_t cuda_error = (call);                                                   \
        if (cuda_error != cudaSuccess) return cuda_failed(context, operation, cuda_error); \
    } while (0)

static lw_status cuda_failed(lw_context *context, const char *operation, cudaError_t error) {
    snprintf(context->message, sizeof context->message, "%s: %s", operation, cudaGetErrorString(error));
    cudaGetLastError(); /* clear the error, so that the next call does not see it */
    return error == cudaErrorMemoryAllocation ? LW_NO_MEMORY : LW_DEVICE_ERROR;
}

static cudaStream_t stream_of(const lw_context *context) { return static_cast<cudaStream_t>(context->stream); }
