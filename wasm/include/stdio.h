/* See stdlib.h. Only formatting functions. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *text, size_t size, const char *format, va_list arguments);
