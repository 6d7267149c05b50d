/* Prints checksums of the results of a float32 kernel of one argument, for every float. every_float.py compares the
 * checksums of different instruction sets.
 *
 *     every_float KERNEL RESULT_BYTES CHUNK TASK EVERY [PARAMETER...]
 *
 * Prints one checksum per range of TASK floats, for every EVERYth range. A call processes CHUNK floats, and a checksum
 * weights the bits of each result by its position in the chunk. All NaNs count as one bit pattern. */
#include "lanewise_table.h"

#include "kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_kernel *find(const char *name) {
    for (int i = 0; i < LW_KERNEL_COUNT; i++) {
        if (strcmp(kernel_names[i], name) == 0) {
            return ((lw_kernel *const *)&lanewise_kernels.kernels)[i];
        }
    }
    return NULL;
}

static uint64_t sum_of_floats(const uint32_t *result, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = (result[i] & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : result[i];
        sum += bits * (uint64_t)(2 * i + 1);
    }
    return sum;
}

static uint64_t sum_of_bools(const uint8_t *result, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += result[i] * (uint64_t)(2 * i + 1);
    }
    return sum;
}

int main(int count, char **words) {
    lw_kernel *kernel = count < 6 ? NULL : find(words[1]);
    if (!kernel) {
        fprintf(stderr, "every_float: expected a kernel and 4 arguments, got %s\n", count > 1 ? words[1] : "none");
        return 2;
    }
    int size = atoi(words[2]);
    int64_t chunk = atoll(words[3]), task = atoll(words[4]), every = atoll(words[5]);
    lw_scalar parameters[8] = {{0}};
    for (int i = 6; i < count && i < 14; i++) {
        parameters[i - 6].f = atof(words[i]);
    }
    uint32_t *input = malloc((size_t)chunk * 4);
    void *result = malloc((size_t)chunk * 4);
    lw_layout layout = {.ndim = 1, .shape = {chunk}, .strides = {{4}, {size}}};
    lw_context context = {0};
    const void *inputs[] = {input};
    void *outputs[] = {result};
    for (int64_t start = 0; start < INT64_C(1) << 32; start += task * every) {
        uint64_t sum = 0;
        for (int64_t first = start; first < start + task; first += chunk) {
            for (int64_t i = 0; i < chunk; i++) {
                input[i] = (uint32_t)(first + i);
            }
            if (kernel(&context, &layout, inputs, outputs, parameters) != LW_OK) {
                return 1;
            }
            sum = sum * 31 + (size == 4 ? sum_of_floats(result, chunk) : sum_of_bools(result, chunk));
        }
        printf("%016llx\n", (unsigned long long)sum);
    }
    return 0;
}
