/* Counts how often an algorithm takes each of its paths, for tests. PATH marks a point where a size, a stride or the
 * caller's lw_context decides which code runs; PATH_IF marks a decision of which one outcome has a name, PATH_EITHER
 * one of which both have. With -DLW_COUNT_PATHS every name is a counter in the section lw_paths, where
 * tests/native/programs/runner.c finds all of them without a list of names. Otherwise a mark compiles to nothing.
 *
 * A mark that cannot be reached on some instruction set must be behind a condition that is constant and false there, so
 * that it is not compiled. */
#pragma once

#ifdef LW_COUNT_PATHS
#include <stdint.h>

typedef struct path_counter {
    const char *name; /* counters with the same name are added up */
    uint64_t count;
} path_counter;

#define PATH(path)                                                                                             \
    ({                                                                                                         \
        static path_counter path_here __attribute__((section("lw_paths"), used)) = {.name = path, .count = 0}; \
        path_here.count++;                                                                                     \
        (void)0;                                                                                               \
    })
#define PATH_IF(condition, path) ((condition) ? PATH(path) : (void)0)
#define PATH_EITHER(condition, path, other) ((condition) ? PATH(path) : PATH(other))
#else
#define PATH(path) ((void)0)
#define PATH_IF(condition, path) ((void)0)
#define PATH_EITHER(condition, path, other) ((void)0)
#endif
