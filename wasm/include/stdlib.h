/* What the extension uses of the C library, which in Pyodide is the main module's: zig has no headers for a
 * freestanding target, and these few declarations are Emscripten's ABI. */
#pragma once

#include <stddef.h>

void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *memory, size_t bytes);
void free(void *memory);
char *getenv(const char *name);
double strtod(const char *text, char **end);
long long strtoll(const char *text, char **end, int base);
