/* Declares the formatting functions only; stdlib.h explains why this folder exists. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *text, size_t size, const char *format, va_list arguments);
