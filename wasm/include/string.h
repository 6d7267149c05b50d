/* Declares memory and string functions; stdlib.h explains why this folder exists. memcpy, memmove and memset are mapped
 * to the compiler's built-ins, so that copies of constant size are inlined: with -ffreestanding, the compiler does not
 * inline calls of the plain names. */
#pragma once

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *memory, int byte, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memset __builtin_memset

size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t length);
char *strchr(const char *text, int character);
char *strrchr(const char *text, int character);
char *strstr(const char *text, const char *part);
