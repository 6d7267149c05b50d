/* Declares dlopen() and related functions; stdlib.h explains why this folder exists. In Pyodide, dlopen() opens side
 * modules synchronously. */
#pragma once

#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_LOCAL 0
#define RTLD_GLOBAL 256

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);
