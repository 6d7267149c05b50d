/* Backends: their names, their kernel libraries, and which of them runs calls. */
#pragma once

#include "device/device.h"
#include "lanewise_table.h"
#include "pyabi.h"
#include "visibility.h"

enum { LW_MAX_ADAPTERS = 8 }; /* of WebGPU that a process can use */

/* Backends, highest priority first; backends.c has their names. Each adapter of WebGPU is one here, LW_BACKEND_WGPU
 * plus its number, called "wgpu", "wgpu:1" and so on; for users, they are one backend with several devices. */
typedef enum lw_backend {
    LW_BACKEND_CUDA,
    LW_BACKEND_WGPU,
    LW_BACKEND_AVX512 = LW_BACKEND_WGPU + LW_MAX_ADAPTERS,
    LW_BACKEND_AVX2,
    LW_BACKEND_AVX,
    LW_BACKEND_SSE2,
    LW_BACKEND_NEON,
    LW_BACKEND_RELAXED_SIMD,
    LW_BACKEND_SIMD128,
    LW_BACKEND_SCALAR,
    LW_BACKEND_COUNT
} lw_backend;

static inline int lw_is_host(int backend) { return backend >= LW_BACKEND_AVX512; }

LW_HIDDEN const lw_library *lw_libraries[LW_BACKEND_COUNT]; /* NULL until opened */
LW_HIDDEN lw_device *lw_devices[LW_BACKEND_COUNT];          /* NULL for the CPU's, and until opened */
LW_HIDDEN int lw_has_devices;                               /* whether one of them is not NULL */
const char *lw_backend_name(int backend);
int lw_find_backend(const char *name); /* -1 if no backend has this name */
/* The backend that runs a call, and whether the user chose it (`committed`), by placing an operand or by
 * use_backend(). */
typedef struct lw_placement {
    int backend;
    int committed;
} lw_placement;
/* Returns the placement of a call if the user has not placed any of its operands on a backend: that of the innermost
 * use_backend() block in this thread, or the default outside such blocks. */
lw_placement lw_current_placement(void);
/* Returns the current placement if it is on the CPU, else that of the best CPU backend that is open. */
lw_placement lw_host_placement(void);
LW_HIDDEN int lw_strict_backends; /* if set, operands placed on different backends are an error */
/* Parses the name of a backend. The library of a CPU backend must be open already. Returns -1 with an error set on
 * failure. */
int lw_parse_backend(PyObject *object);
/* Returns 0 if the backend is open, else -1 with an error set. */
int lw_require_open(int backend);
