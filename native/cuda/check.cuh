/* Errors of the CUDA runtime. Every call goes through CUDA_CHECK once, which names the operation. */
#pragma once

#include <cstdio>

#include <cuda_runtime_api.h>

#include "lanewise.h"

/* Leaves the function with LW_NO_MEMORY or LW_DEVICE_ERROR, and in context->message which operation met what. */
#define CUDA_CHECK(context, operation, call)                                               \
    do {                                                                                   \
        cudaError_t cuda_error = (call);                                                   \
        if (cuda_error != cudaSuccess) return cuda_failed(context, operation, cuda_error); \
    } while (0)

static lw_status cuda_failed(lw_context *context, const char *operation, cudaError_t error) {
    snprintf(context->message, sizeof context->message, "%s: %s", operation, cudaGetErrorString(error));
    cudaGetLastError(); /* an error that is not sticky must not be met again by the next call */
    return error == cudaErrorMemoryAllocation ? LW_NO_MEMORY : LW_DEVICE_ERROR;
}

static cudaStream_t stream_of(const lw_context *context) { return static_cast<cudaStream_t>(context->stream); }
