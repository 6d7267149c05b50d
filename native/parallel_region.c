/* Finds the OpenMP runtimes that the process has loaded, and asks them. */
#define _GNU_SOURCE
#include "parallel_region.h"
#include "dynamic.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

typedef int in_parallel(void);

enum { MAX_RUNTIMES = 8 };
static in_parallel *runtimes[MAX_RUNTIMES];
static atomic_int runtime_count; /* only grows, because runtimes stay loaded once they are found */

static void add_runtime(void *library) {
    in_parallel *function = (in_parallel *)lw_find_symbol(library, "omp_in_parallel");
    int count = atomic_load(&runtime_count);
    for (int i = 0; i < count; i++) {
        if (runtimes[i] == function) {
            return;
        }
    }
    if (function && count < MAX_RUNTIMES) {
        runtimes[count] = function;
        atomic_store(&runtime_count, count + 1);
    }
}

#if defined(_WIN32)

void *__stdcall GetModuleHandleA(const char *);

static void find_runtimes(void) {
    static const char *const names[] = {"vcomp140.dll", "libiomp5md.dll", "libomp140.x86_64.dll", "libgomp-1.dll"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *module = GetModuleHandleA(names[i]);
        if (module) {
            add_runtime(module);
        }
    }
}

#else

#include <dlfcn.h>

/* Returns whether a file is the runtime of gcc, clang or Intel. A version or a hash can follow these names. */
static int is_runtime(const char *path) {
    static const char *const prefixes[] = {"libgomp", "libomp", "libiomp"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Keeps the library open, so that it stays loaded. */
static void add_library(const char *path) {
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        add_runtime(library);
    }
}

#if defined(__APPLE__)

#include <mach-o/dyld.h>

static void find_runtimes(void) {
    static _Atomic uint32_t seen;
    uint32_t count = _dyld_image_count();
    if (atomic_exchange(&seen, count) == count) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *path = _dyld_get_image_name(i);
        if (path && is_runtime(path)) {
            add_library(path);
        }
    }
}

#else

#include <link.h>

enum { MAX_PATH = 1024 };

/* The paths of runtimes, copied because no library may be opened while the list of libraries is read. */
typedef struct {
    int count;
    char paths[MAX_RUNTIMES][MAX_PATH];
} found_paths;

static _Atomic unsigned long long loads_seen; /* how many libraries had ever been loaded when we last looked */

static int stop_if_seen(struct dl_phdr_info *info, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

static int copy_path(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    found_paths *found = argument;
    if (is_runtime(info->dlpi_name) && strlen(info->dlpi_name) < MAX_PATH && found->count < MAX_RUNTIMES) {
        strcpy(found->paths[found->count++], info->dlpi_name);
    }
    return 0;
}

static void find_runtimes(void) {
    unsigned long long loads = 0;
    dl_iterate_phdr(stop_if_seen, &loads);
    if (atomic_exchange(&loads_seen, loads) == loads) {
        return;
    }
    found_paths found = {0};
    dl_iterate_phdr(copy_path, &found);
    for (int i = 0; i < found.count; i++) {
        add_library(found.paths[i]);
    }
}

#endif
#endif

int lw_in_parallel_region(void) {
    static atomic_flag busy = ATOMIC_FLAG_INIT; /* not a mutex, which a fork() can leave locked in the child */
    if (!atomic_flag_test_and_set(&busy)) {
        find_runtimes();
        atomic_flag_clear(&busy);
    }
    int count = atomic_load(&runtime_count);
    for (int i = 0; i < count; i++) {
        if (runtimes[i]()) {
            return 1;
        }
    }
    return 0;
}
