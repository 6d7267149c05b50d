/* This folder declares the functions of the C library that the extension uses. In Pyodide they are in the main module,
 * and zig has no headers for a freestanding target. The declarations match Emscripten's ABI. */
#pragma once

#include <stddef.h>

void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *memory, size_t bytes);
void free(void *memory);
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
char *getenv(const char *name);
double strtod(const char *text, char **end);
long long strtoll(const char *text, char **end, int base);
