/* Device memory, allocated and freed in the order of the caller's stream, so that neither operation waits for the
 * device. Only download and synchronize wait, because the host reads the data afterwards. */
#pragma once

#include "check.cuh"

static void *cuda_allocate(lw_context *context, size_t bytes) {
    void *memory = nullptr;
    cudaError_t error = cudaMallocAsync(&memory, bytes ? bytes : 1, stream_of(context));
    if (error == cudaSuccess) {
        return memory;
    }
    cuda_failed(context, "allocate", error);
    return nullptr;
}

/* Ignores errors: after a device fault nothing can be freed, and this function returns no status. */
static void cuda_release(lw_context *context, void *memory) {
    if (memory) {
        (void)cudaFreeAsync(memory, stream_of(context));
    }
}

/* The caller may change the host's memory as soon as this returns: CUDA has copied pageable memory by then. */
static lw_status cuda_upload(lw_context *context, void *device, const void *host, size_t bytes) {
    CUDA_CHECK(context, "upload", cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_of(context)));
    return LW_OK;
}

static lw_status cuda_synchronize(lw_context *context) {
    CUDA_CHECK(context, "synchronize", cudaStreamSynchronize(stream_of(context)));
    return LW_OK;
}

static lw_status cuda_download(lw_context *context, void *host, const void *device, size_t bytes) {
    CUDA_CHECK(context, "download", cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_of(context)));
    return cuda_synchronize(context);
}

#define CUDA_MEMORY {cuda_allocate, cuda_release, cuda_upload, cuda_download, cuda_synchronize}
