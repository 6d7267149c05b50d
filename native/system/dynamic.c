/* Opens dynamic libraries. */
#include "system/dynamic.h"

#if defined(_WIN32)

#include <stdio.h>

void *__stdcall LoadLibraryA(const char *);
void *__stdcall GetProcAddress(void *, const char *);
unsigned long __stdcall GetLastError(void);

void *lw_open_dynamic(const char *path) { return LoadLibraryA(path); }

void *lw_find_symbol(void *library, const char *name) { return GetProcAddress(library, name); }

const char *lw_dynamic_error(void) {
    static char text[32];
    snprintf(text, sizeof text, "Windows error %lu", GetLastError());
    return text;
}

#else

#include <dlfcn.h>

void *lw_open_dynamic(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

void *lw_find_symbol(void *library, const char *name) { return dlsym(library, name); }

const char *lw_dynamic_error(void) {
    const char *reason = dlerror();
    return reason ? reason : "no reason given";
}

#endif
