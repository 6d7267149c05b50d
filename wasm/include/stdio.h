/* See stdlib.h. Formatting only. */
#ifndef LANEWISE_WASM_STDIO_H
#define LANEWISE_WASM_STDIO_H

#include <stdarg.h>
#include <stddef.h>

int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *text, size_t size, const char *format, va_list arguments);

#endif
