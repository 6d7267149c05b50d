/* Opens kernel libraries, and stores which backend runs calls. lanewise/backends/registry.py decides which libraries to
 * open, and verifies their files first. */
#include "python/backends.h"
#include "python/errors.h"
#include "python/module.h"
#include "system/cpu.h"
#include "system/dynamic.h"
#include <stdlib.h>
#include <string.h>

const lw_library *lw_libraries[LW_BACKEND_COUNT];
lw_device *lw_devices[LW_BACKEND_COUNT];
int lw_has_devices;
int lw_strict_backends;

static const char *const names[LW_BACKEND_COUNT] = {
    [LW_BACKEND_CUDA] = "cuda",       [LW_BACKEND_WGPU] = "wgpu",       [LW_BACKEND_WGPU + 1] = "wgpu:1",
    [LW_BACKEND_WGPU + 2] = "wgpu:2", [LW_BACKEND_WGPU + 3] = "wgpu:3", [LW_BACKEND_WGPU + 4] = "wgpu:4",
    [LW_BACKEND_WGPU + 5] = "wgpu:5", [LW_BACKEND_WGPU + 6] = "wgpu:6", [LW_BACKEND_WGPU + 7] = "wgpu:7",
    [LW_BACKEND_AVX512] = "avx512",   [LW_BACKEND_AVX2] = "avx2",       [LW_BACKEND_AVX] = "avx",
    [LW_BACKEND_SSE2] = "sse2",       [LW_BACKEND_NEON] = "neon",       [LW_BACKEND_RELAXED_SIMD] = "relaxed_simd",
    [LW_BACKEND_SIMD128] = "simd128", [LW_BACKEND_SCALAR] = "scalar",
};

static int default_backend = LW_BACKEND_SCALAR;

/* The backends of the use_backend() blocks that a thread is in. To save time, a call reads this thread-local memory
 * only while some thread is in such a block. */
enum { MAX_NESTED = 64, AUTO = -1 };
static _Thread_local struct {
    int depth;
    int8_t backends[MAX_NESTED];
} chosen;
static int threads_with_choice; /* number of threads that are in a use_backend() block */

const char *lw_backend_name(int backend) { return names[backend]; }

int lw_find_backend(const char *name) {
    for (int backend = 0; backend < LW_BACKEND_COUNT; backend++) {
        if (strcmp(name, names[backend]) == 0) {
            return backend;
        }
    }
    return -1;
}

/* Not inlined: the address of thread-local memory would be looked up even where nobody needs it. */
static __attribute__((noinline)) lw_placement placement_of_thread(void) {
    int backend = chosen.depth ? chosen.backends[chosen.depth - 1] : AUTO;
    return (lw_placement){backend == AUTO ? default_backend : backend, backend != AUTO};
}

lw_placement lw_current_placement(void) {
    return threads_with_choice ? placement_of_thread() : (lw_placement){default_backend, 0};
}

lw_placement lw_host_placement(void) {
    lw_placement placement = lw_current_placement();
    if (!lw_is_host(placement.backend)) {
        placement = (lw_placement){LW_BACKEND_AVX512, 0};
        while (placement.backend < LW_BACKEND_SCALAR && !lw_libraries[placement.backend]) {
            placement.backend++;
        }
    }
    return placement;
}

int lw_require_open(int backend) {
    return lw_is_host(backend) || lw_devices[backend]
               ? 0
               : lw_refuse(LW_BACKEND_UNAVAILABLE_ERROR,
                           "expected an open backend, got %s; open it with lw.init_backend(\"%s\")",
                           lw_backend_name(backend), lw_backend_name(backend));
}

static const char *text_of(PyObject *object) {
    return lw_is_string(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
}

int lw_parse_backend(PyObject *object) {
    const char *name = text_of(object);
    int backend = name ? lw_find_backend(name) : -1;
    if (backend >= 0 && (!lw_is_host(backend) || lw_libraries[backend])) {
        return backend;
    }
    if (backend >= 0) {
        lw_raise(LW_BACKEND_UNAVAILABLE_ERROR, "the kernel library of %s is not open; see lw.backends()", name);
    } else if (!PyErr_Occurred()) {
        lw_raise(LW_ARGUMENT_ERROR, "expected the name of a backend, got %S; see lw.Backend", lw_describe(object));
    }
    lw_name_error("backend");
    return -1;
}

/* Checks the head of a library before anything else in it is read. The head has the same layout in all versions. */
static int check_head(const char *path, int backend, const lw_library_head *head) {
    if (head->abi_version != LW_ABI_VERSION || head->kernel_count != LW_KERNEL_COUNT ||
        head->signature != LW_SIGNATURE) {
        return lw_refuse(LW_LIBRARY_ERROR,
                         "%s: expected ABI %d, %d kernels and signature %llx, got ABI %u, %u kernels and signature "
                         "%llx; reinstall lanewise",
                         path, LW_ABI_VERSION, LW_KERNEL_COUNT, (unsigned long long)LW_SIGNATURE, head->abi_version,
                         head->kernel_count, (unsigned long long)head->signature);
    }
    if (strcmp(head->name, names[backend]) != 0) {
        return lw_refuse(LW_LIBRARY_ERROR, "%s: expected kernels of %s, got kernels of %s; reinstall lanewise", path,
                         names[backend], head->name);
    }
    uint64_t missing = lw_is_host(backend) ? head->cpu_features & ~lw_cpu_features() : 0;
    if (missing) {
        return lw_refuse(LW_BACKEND_UNAVAILABLE_ERROR,
                         "%s: this CPU or its operating system lacks features that %s needs (LW_CPU_* bits 0x%llx); "
                         "choose another backend",
                         path, names[backend], (unsigned long long)missing);
    }
    return 0;
}

/* Returns a copy of the library in which each missing kernel is replaced by that of `base`. The copy is never freed, as
 * libraries are never closed. */
static const lw_library *complete_library(const lw_library *library, const lw_library *base) {
    lw_library *copy = malloc(sizeof *copy);
    if (!copy) {
        return (void *)PyErr_NoMemory();
    }
    *copy = *library;
    lw_kernel **kernels = (lw_kernel **)&copy->kernels, *const *others = (lw_kernel *const *)&base->kernels;
    for (int i = 0; i < LW_KERNEL_COUNT; i++) {
        kernels[i] = kernels[i] ? kernels[i] : others[i];
    }
    return copy;
}

/* open_library(path, backend, base): opens the kernels of a backend. `base` names an open backend that supplies missing
 * kernels, or is None. */
static PyObject *open_library(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    const char *path = count == 3 ? text_of(arguments[0]) : NULL;
    const char *name = count == 3 ? text_of(arguments[1]) : NULL;
    int backend = name ? lw_find_backend(name) : -1;
    if (!path || backend < 0) {
        return PyErr_Occurred() ? NULL
                                : lw_raise(LW_ARGUMENT_TYPE_ERROR, "open_library: expected (path, backend, base)");
    }
    int base = arguments[2] == Py_None ? backend : lw_parse_backend(arguments[2]);
    if (base < 0) {
        return NULL;
    }
    void *handle = lw_open_dynamic(path);
    if (!handle) {
        return lw_raise(LW_LIBRARY_ERROR, "%s: cannot be opened: %s; reinstall lanewise", path, lw_dynamic_error());
    }
    const lw_library *library = lw_find_symbol(handle, "lanewise_kernels");
    if (!library) {
        return lw_raise(LW_LIBRARY_ERROR, "%s: has no kernel table; reinstall lanewise", path);
    }
    if (check_head(path, backend, &library->head) < 0) {
        return NULL;
    }
    if (base != backend) {
        library = complete_library(library, lw_libraries[base]);
        if (!library) {
            return NULL;
        }
    }
    lw_libraries[backend] = library; /* never closed: tensors and threads may use it */
    return Py_NewRef(Py_None);
}

static PyObject *set_default_backend(PyObject *module, PyObject *name) {
    int backend = lw_parse_backend(name);
    if (backend < 0) {
        return NULL;
    }
    default_backend = backend;
    return Py_NewRef(Py_None);
}

static PyObject *default_backend_name(PyObject *module, PyObject *unused) {
    return PyUnicode_FromString(names[default_backend]);
}

/* Returns the backend on which this thread's calls run on the CPU. */
static PyObject *host_backend_name(PyObject *module, PyObject *unused) {
    return PyUnicode_FromString(names[lw_host_placement().backend]);
}

/* Enters a use_backend() block. None is use_backend(AUTO): calls run as outside such blocks. */
static PyObject *push_backend(PyObject *module, PyObject *name) {
    int backend = name == Py_None ? AUTO : lw_parse_backend(name);
    if (backend < 0 && name != Py_None) {
        return NULL;
    }
    if (chosen.depth == MAX_NESTED) {
        return lw_raise(LW_BACKEND_ERROR, "expected at most %d nested blocks, got more", MAX_NESTED);
    }
    threads_with_choice += chosen.depth == 0;
    chosen.backends[chosen.depth++] = (int8_t)backend;
    return Py_NewRef(Py_None);
}

static PyObject *pop_backend(PyObject *module, PyObject *unused) {
    if (chosen.depth == 0) {
        return lw_raise(LW_BACKEND_ERROR,
                        "expected a block that this thread has entered, got an exit without an entry");
    }
    threads_with_choice -= --chosen.depth == 0;
    return Py_NewRef(Py_None);
}

static PyObject *set_strict_backends(PyObject *module, PyObject *strict) {
    PyObject *before = PyBool_FromLong(lw_strict_backends);
    lw_strict_backends = PyObject_IsTrue(strict) > 0;
    return before;
}

static PyObject *cpu_features(PyObject *module, PyObject *unused) {
    return PyLong_FromUnsignedLongLong(lw_cpu_features());
}

static PyObject *max_adapters(PyObject *module, PyObject *unused) { return PyLong_FromLongLong(LW_MAX_ADAPTERS); }

static PyObject *abi_version(PyObject *module, PyObject *unused) { return PyLong_FromLongLong(LW_ABI_VERSION); }

static PyObject *signature(PyObject *module, PyObject *unused) { return PyLong_FromUnsignedLongLong(LW_SIGNATURE); }

LW_NAMED("use_backend", push_backend)
LW_NAMED("use_backend", pop_backend)

PyMethodDef lw_backend_functions[] = {
    {"open_library", (PyCFunction)(void *)open_library, METH_FASTCALL, NULL},
    {"set_default_backend", set_default_backend, METH_O, NULL},
    {"default_backend", default_backend_name, METH_NOARGS, NULL},
    {"host_backend", host_backend_name, METH_NOARGS, NULL},
    {"push_backend", named_push_backend, METH_O, NULL},
    {"pop_backend", named_pop_backend, METH_NOARGS, NULL},
    {"set_strict_backends", set_strict_backends, METH_O, NULL},
    {"cpu_features", cpu_features, METH_NOARGS, NULL},
    {"max_adapters", max_adapters, METH_NOARGS, NULL},
    {"abi_version", abi_version, METH_NOARGS, NULL},
    {"signature", signature, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
