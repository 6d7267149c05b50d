/* Launches elementwise kernels. In each step of a grid-stride loop, a thread computes one element, or a packet of as
 * many as fit in 16 bytes, so one launch handles any number of elements below 2^31. The generated functor
 * (contracts/generator/kernels.py) loads the operands of one element through pointers, evaluates the expression of
 * core/ops and stores the result; this file computes the pointers. */
#pragma once

#include <cstdint>

#include "check.cuh"

/* 256 threads per block, and at most 32 blocks for each of up to 150 multiprocessors of a GPU. That is more blocks than
 * are ever resident at once, so multiprocessors that finish early take over remaining blocks. On an NVIDIA H200
 * (2026-11), with 2^28 float32 elements, add moves 4.16 TB/s, relu 3.98 and exp 3.95; with one element per thread, they
 * move 3.57, 2.96 and 2.89. */
enum { CUDA_THREADS = 256, CUDA_MAX_BLOCKS = 32 * 150 };

/* A layout, passed by value: kernel arguments are stored in constant memory, which is fast when all threads read the
 * same word. Indices have 32 bits, because 64-bit division is several times slower. */
template <int Operands> struct strided {
    char *base[Operands];
    uint32_t count;
    int32_t ndim;
    uint32_t shape[LW_MAX_NDIM];
    int64_t strides[Operands][LW_MAX_NDIM];
};

/* Returns how many contiguous elements a thread processes at once: as many of the widest operand as fit in 16 bytes. */
template <int First, int... Rest> constexpr int per_packet() {
    int widest = First;
    for (int size : {First, Rest...}) {
        widest = size > widest ? size : widest;
    }
    return 16 / widest;
}

/* Copies a packet. `bytes` is constant after inlining, and one side is a local array, which becomes registers. */
static __device__ __forceinline__ void move_packet(char *to, const char *from, int bytes) {
    switch (bytes) {
    case 1:
        *to = *from;
        return;
    case 2:
        *reinterpret_cast<uint16_t *>(to) = *reinterpret_cast<const uint16_t *>(from);
        return;
    case 4:
        *reinterpret_cast<uint32_t *>(to) = *reinterpret_cast<const uint32_t *>(from);
        return;
    case 8:
        *reinterpret_cast<uint2 *>(to) = *reinterpret_cast<const uint2 *>(from);
        return;
    default:
        *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
        return;
    }
}

/* `per` is the number of elements in a packet: per_packet() if every operand is aligned to its packets, else 1. A
 * thread loads a packet of each input before it stores that of the result, so the result may be one of the inputs. */
template <int per, class Element, int... Sizes>
__global__ void __launch_bounds__(CUDA_THREADS)
    elementwise_contiguous(strided<sizeof...(Sizes)> operands, Element element) {
    constexpr int sizes[] = {Sizes...};
    constexpr int out = sizeof...(Sizes) - 1;
    uint32_t step = gridDim.x * CUDA_THREADS, first = blockIdx.x * CUDA_THREADS + threadIdx.x;
    uint32_t packets = operands.count / per;
    for (int64_t i = first; i < packets; i += step) {
        alignas(16) char packet[out + 1][16];
#pragma unroll
        for (int o = 0; o < out; o++) {
            move_packet(packet[o], operands.base[o] + i * (per * sizes[o]), per * sizes[o]);
        }
#pragma unroll
        for (int e = 0; e < per; e++) {
            const char *in[out];
#pragma unroll
            for (int o = 0; o < out; o++) {
                in[o] = packet[o] + e * sizes[o];
            }
            element(in, packet[out] + e * sizes[out]);
        }
        move_packet(operands.base[out] + i * (per * sizes[out]), packet[out], per * sizes[out]);
    }
    int64_t remaining = static_cast<int64_t>(packets) * per + first;
    if (per > 1 && remaining < operands.count) {
        const char *in[out];
#pragma unroll
        for (int o = 0; o < out; o++) {
            in[o] = operands.base[o] + remaining * sizes[o];
        }
        element(in, operands.base[out] + remaining * sizes[out]);
    }
}

template <int Operands, class Element>
__global__ void __launch_bounds__(CUDA_THREADS) elementwise_strided(strided<Operands> operands, Element element) {
    constexpr int out = Operands - 1;
    uint32_t step = gridDim.x * CUDA_THREADS;
    for (int64_t i = blockIdx.x * CUDA_THREADS + threadIdx.x; i < operands.count; i += step) {
        char *at[Operands];
#pragma unroll
        for (int o = 0; o < Operands; o++) {
            at[o] = operands.base[o];
        }
        uint32_t remaining = static_cast<uint32_t>(i);
        for (int d = operands.ndim - 1; d >= 0; d--) {
            uint32_t slower = remaining / operands.shape[d];
            int64_t coordinate = remaining - slower * operands.shape[d];
#pragma unroll
            for (int o = 0; o < Operands; o++) {
                at[o] += coordinate * operands.strides[o][d];
            }
            remaining = slower;
        }
        element(at, at[out]);
    }
}

template <int... Sizes> static bool is_contiguous(const strided<sizeof...(Sizes)> &operands) {
    constexpr int64_t sizes[] = {Sizes...};
    for (size_t o = 0; o < sizeof...(Sizes); o++) {
        int64_t size = sizes[o];
        for (int d = operands.ndim - 1; d >= 0; d--) {
            if (operands.shape[d] != 1 && operands.strides[o][d] != size) {
                return false;
            }
            size *= operands.shape[d];
        }
    }
    return true;
}

template <int per, int... Sizes> static bool is_aligned(const strided<sizeof...(Sizes)> &operands) {
    constexpr int sizes[] = {Sizes...};
    for (size_t o = 0; o < sizeof...(Sizes); o++) {
        if (reinterpret_cast<uintptr_t>(operands.base[o]) % (per * sizes[o])) {
            return false;
        }
    }
    return true;
}

/* Launches a kernel for the part of the layout that has extents `shape` and begins at `base`. Splits a part of 2^31 or
 * more elements in two and calls itself for both, because 32-bit indices suffice only for smaller parts. */
template <int... Sizes, class Element>
static lw_status elementwise_part(lw_context *context, const char *name, const lw_layout *layout, const int64_t *shape,
                                  char *const *base, const Element &element) {
    constexpr int count_of_operands = sizeof...(Sizes);
    int64_t count = 1;
    int longest = 0;
    for (int d = 0; d < layout->ndim; d++) {
        count *= shape[d];
        if (shape[d] > shape[longest]) {
            longest = d;
        }
    }
    if (count == 0) {
        return LW_OK;
    }
    if (count > INT32_MAX) {
        int64_t half[LW_MAX_NDIM], remaining[LW_MAX_NDIM];
        char *second[count_of_operands];
        for (int d = 0; d < layout->ndim; d++) {
            half[d] = remaining[d] = shape[d];
        }
        half[longest] = shape[longest] / 2;
        remaining[longest] = shape[longest] - half[longest];
        for (int o = 0; o < count_of_operands; o++) {
            second[o] = base[o] + half[longest] * layout->strides[o][longest];
        }
        lw_status status = elementwise_part<Sizes...>(context, name, layout, half, base, element);
        return status == LW_OK ? elementwise_part<Sizes...>(context, name, layout, remaining, second, element) : status;
    }
    strided<count_of_operands> operands;
    operands.count = static_cast<uint32_t>(count);
    operands.ndim = layout->ndim;
    for (int o = 0; o < count_of_operands; o++) {
        operands.base[o] = base[o];
        for (int d = 0; d < layout->ndim; d++) {
            operands.strides[o][d] = layout->strides[o][d];
        }
    }
    for (int d = 0; d < layout->ndim; d++) {
        operands.shape[d] = static_cast<uint32_t>(shape[d]);
    }
    constexpr int per = per_packet<Sizes...>();
    bool contiguous = is_contiguous<Sizes...>(operands), packets = contiguous && is_aligned<per, Sizes...>(operands);
    int64_t threads = packets ? (count + per - 1) / per : count;
    int64_t needed = (threads + CUDA_THREADS - 1) / CUDA_THREADS;
    unsigned blocks = static_cast<unsigned>(needed < CUDA_MAX_BLOCKS ? needed : CUDA_MAX_BLOCKS);
    cudaStream_t stream = stream_of(context);
    if (packets) {
        elementwise_contiguous<per, Element, Sizes...><<<blocks, CUDA_THREADS, 0, stream>>>(operands, element);
    } else if (contiguous) {
        elementwise_contiguous<1, Element, Sizes...><<<blocks, CUDA_THREADS, 0, stream>>>(operands, element);
    } else {
        elementwise_strided<<<blocks, CUDA_THREADS, 0, stream>>>(operands, element);
    }
    CUDA_CHECK(context, name, cudaGetLastError());
    return LW_OK;
}

/* `Sizes` are the bytes per element of each operand: first of the inputs, then of the result. */
template <int... Sizes, class Element>
static lw_status elementwise_launch(lw_context *context, const char *name, const void *layout,
                                    const void *const *inputs, void *const *outputs, const Element &element) {
    const lw_layout *strides = static_cast<const lw_layout *>(layout);
    constexpr int last = sizeof...(Sizes) - 1;
    char *base[last + 1];
    for (int o = 0; o < last; o++) {
        base[o] = static_cast<char *>(const_cast<void *>(inputs[o]));
    }
    base[last] = static_cast<char *>(outputs[0]);
    return elementwise_part<Sizes...>(context, name, strides, strides->shape, base, element);
}
