/* Stands in for core/ in the fixture `small` of ../conftest.py: one kernel, whose stack frame exceeds a page, so that
 * it needs a stack probe on Windows. */
#include <stddef.h>

#if defined(_WIN32)
#define LW_EXPORT __declspec(dllexport)
#else
#define LW_EXPORT __attribute__((visibility("default")))
#endif

typedef float kernel(const float *x, size_t n);

static float sum(const float *x, size_t n) {
    float padded[4096];
    float total = 0;
    for (size_t i = 0; i < 4096; i++) {
        padded[i] = i < n ? x[i] : 0;
    }
    for (size_t i = 0; i < n; i++) {
        total += padded[i % 4096] * 2;
    }
    return total;
}

extern LW_EXPORT kernel *const lanewise_kernels;
kernel *const lanewise_kernels = sum;
