/* Runs a kernel library over the oracle's files without Python: under an emulator, or with sanitizers.
 *
 *     runner LIBRARY ORACLE...              loads a library
 *     runner ORACLE...                      if built with LW_STATIC, which links the kernels in
 *     runner LIBRARY --results FILE ORACLE  also writes the bytes of all results to FILE, every NaN as zeros
 *     runner --paths ORACLE...              if also built with LW_COUNT_PATHS: repeats each case with the other `hosts`
 *                                           below and memory layouts, and counts code paths (core/paths.h)
 *
 * Prints the library and the processor's features; one line per built-in test and per oracle file: name, cases,
 * failures, and a checksum of all results, to compare bits between libraries. With --paths, the checksum is constant,
 * and one line per path follows: `path`, count, name. contracts/generator/oracle.py defines the files' format. */
#include "kernel_names.h"
#include "lanewise_table.h"
#include "oracle_file.h"
#include "paths.h"
#include "placed.h"
#include "system/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(LW_STATIC)
#include <dlfcn.h>
#endif

enum { STRICT = 1, MAGNITUDE = 2, REST = 4 };

/* -- calling a kernel -- */

static void *allocate(lw_context *context, size_t bytes) {
    (void)context;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void release(lw_context *context, void *memory) {
    (void)context;
    free(memory);
}

/* Finds a kernel by its name, and returns whether the name exists. *found is NULL if this library lacks the kernel. */
static int kernel_of(const lw_library *library, const char *kernel, lw_kernel **found) {
    lw_kernel *const *table = (lw_kernel *const *)&library->kernels;
    for (int i = 0; i < LW_KERNEL_COUNT; i++) {
        if (strcmp(kernel_names[i], kernel) == 0) {
            *found = table[i];
            return 1;
        }
    }
    return 0;
}

static FILE *results_file; /* the file of --results, or NULL */

static uint64_t mix(uint64_t sum, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sum = (sum ^ bytes[i]) * 0x100000001b3; /* a step of FNV-1a */
    }
    return sum;
}

/* Adds results to a checksum. All NaNs count as the same value, because payloads differ between instruction sets. */
static uint64_t mix_results(uint64_t sum, int dtype, const uint8_t *out, size_t count) {
    static const uint8_t zeros[8];
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = out + i * size_of(dtype);
        int is_nan = lw_is_floating(dtype) && isnan(element(dtype, p));
        sum = is_nan ? mix(sum, (const uint8_t *)"nan", 3) : mix(sum, p, size_of(dtype));
        if (results_file && fwrite(is_nan ? zeros : p, size_of(dtype), 1, results_file) != 1) {
            fail("cannot write the results");
        }
    }
    return sum;
}

/* Runs the tasks last to first, each with a context of its own. */
static lw_status run_backwards(lw_context *context, int64_t count, lw_task *task, const void *argument) {
    lw_status status = LW_OK;
    while (count-- > 0 && status == LW_OK) {
        lw_context own = *context;
        status = task(&own, count, argument);
    }
    return status;
}

/* What the caller of a kernel, its host, offers: how many tasks it asks for (with 1, the kernel runs its tasks in
 * order), whether it has scratch memory, and the sizes of caches. Results larger than cache_bytes use streaming stores:
 * 1 enables these for nearly all results, and 0 disables them. Without --paths, only PLAIN is used. */
typedef struct {
    const char *name;
    int tasks, has_memory;
    size_t cache_bytes, l2_bytes;
} host;

enum { PLAIN, BACKWARDS, STREAMING, WITHOUT_MEMORY, PART, HOSTS };
static const host hosts[HOSTS] = {
    [PLAIN] = {"", 1, 1, 0, 0},
    [BACKWARDS] = {" (tasks last to first)", 5, 1, 0, 0},
    [STREAMING] = {" (streamed, small caches)", 5, 1, 1, 1 << 18},
    [WITHOUT_MEMORY] = {" (without memory)", 5, 0, 0, 0},
    [PART] = {" (streamed, in one task)", 1, 1, 1, 0}, /* as a chain runs a part of a large result */
};
static int counts_paths; /* whether --paths is given */

static lw_context context_of(const host *by) {
    lw_context context = {.cache_bytes = by->cache_bytes, .l2_bytes = by->l2_bytes};
    context.threads = context.tasks = by->tasks;
    context.run = by->tasks > 1 ? run_backwards : NULL;
    context.allocate = by->has_memory ? allocate : NULL;
    context.release = by->has_memory ? release : NULL;
    return context;
}

typedef struct {
    name label;
    lw_kernel *call;
    int strict, dtype;
    size_t input_count;
    array inputs[LW_MAX_OPERANDS], expected, magnitude, rest;
    bound allowed;
    const uint8_t *right; /* results that is_wrong() accepted, or NULL */
} test_case;

/* Returns whether the results are wrong; prints the first that is. */
static int is_wrong(const test_case *c, const uint8_t *results, const char *where) {
    if (c->right && memcmp(results, c->right, c->expected.count * size_of(c->dtype)) == 0) {
        return 0; /* an emulator takes longer to compare numbers than the kernel did */
    }
    for (size_t i = 0; i < c->expected.count; i++) {
        const uint8_t *p = results + i * size_of(c->dtype);
        if (!lw_is_floating(c->dtype)) {
            if (memcmp(p, c->expected.data + i * size_of(c->dtype), size_of(c->dtype)) != 0) {
                printf("%s%s: element %zu (%s) differs\n", c->label.text, where, i, lw_dtype_name(c->dtype));
                return 1;
            }
            continue;
        }
        double got = element(c->dtype, p), reference = element(LW_FLOAT64, c->expected.data + i * 8);
        double scale = c->magnitude.dtype == ABSENT ? 0 : element(LW_FLOAT64, c->magnitude.data + i * 8);
        double rest = c->rest.dtype == ABSENT ? 0 : element(LW_FLOAT64, c->rest.data + i * 8);
        if (!is_near(got, reference, rest, c->dtype, c->allowed, scale, c->strict)) {
            printf("%s%s: element %zu is %.17g, %.17g expected\n", c->label.text, where, i, got, reference);
            return 1;
        }
    }
    return 0;
}

/* Calls the kernel as the host `by` does, on operands placed in memory with the given strides; the last one is the
 * result, whose elements are copied to `results`. Returns whether the status, the elements or the bytes around them are
 * wrong. LW_NO_MEMORY is accepted from a kernel whose host has no memory. */
static int run_once(const test_case *c, const host *by, const void *layout, const lw_scalar *scalars, placed *operands,
                    const char *where, uint8_t *results) {
    const void *pointers[LW_MAX_OPERANDS] = {NULL};
    placed *out = operands + c->input_count;
    for (size_t i = 0; i < c->input_count; i++) {
        if (c->inputs[i].dtype != ABSENT) {
            place(operands + i, c->inputs + i, size_of(c->inputs[i].dtype), 0);
            copy(operands + i, c->inputs + i, (uint8_t *)c->inputs[i].data, TO_ARRAY);
            pointers[i] = operands[i].first;
        }
    }
    place(out, &c->expected, size_of(c->dtype), GUARD);
    lw_context context = context_of(by);
    lw_status status = c->call(&context, layout, pointers, (void *[]){out->first}, scalars);
    int failed = status != LW_OK, lacks_memory = status == LW_NO_MEMORY && !by->has_memory;
    if (failed && !lacks_memory) {
        printf("%s%s: status %d\n", c->label.text, where, (int)status);
    }
    copy(out, &c->expected, results, FROM_ARRAY);
    copy(out, &c->expected, NULL, TO_CANARIES);
    if (!failed && !is_untouched(out)) {
        printf("%s%s: wrote outside its result\n", c->label.text, where);
        failed = 1;
    }
    failed = failed ? !lacks_memory : is_wrong(c, results, where);
    for (size_t i = 0; i < c->input_count; i++) {
        if (c->inputs[i].dtype != ABSENT) {
            free(operands[i].memory);
        }
    }
    free(out->memory);
    return failed;
}

/* Runs a case again with each other entry of hosts, and with each further memory layout of the operands that the file
 * has. With BACKWARDS and STREAMING, only the division into tasks, their order, the sizes of blocks and the kind of
 * stores (ordinary or streaming) differ, so the bits must be the same. */
static int run_variants(const test_case *c, reader *r, const void *layout, size_t layout_bytes,
                        const lw_scalar *scalars, size_t scalar_count, placed *operands) {
    size_t bytes = c->expected.count * size_of(c->dtype);
    uint8_t *results = malloc(bytes + 1);
    int failed = 0;
    for (int h = BACKWARDS; h < HOSTS && !failed; h++) {
        failed = run_once(c, hosts + h, layout, scalars, operands, hosts[h].name, results);
        if (!failed && h != WITHOUT_MEMORY && memcmp(results, c->right, bytes) != 0) {
            printf("%s%s: other bits\n", c->label.text, hosts[h].name);
            failed = 1;
        }
    }
    uint32_t placements = read_u32(r);
    read_u32(r);
    for (uint32_t i = 0; i < placements && !failed; i++) {
        char where[32];
        snprintf(where, sizeof where, " (placement %d)", (int)i + 1);
        layout = read_bytes(r, layout_bytes);
        scalars = (const lw_scalar *)read_bytes(r, scalar_count * sizeof(lw_scalar));
        for (size_t o = 0; o <= c->input_count; o++) {
            const array *a = o < c->input_count ? c->inputs + o : &c->expected;
            size_t size = (a->dtype == ABSENT ? 0 : (size_t)a->ndim) * sizeof(int64_t);
            memcpy(operands[o].strides, read_bytes(r, size), size);
        }
        failed = run_once(c, hosts + BACKWARDS, layout, scalars, operands, where, results);
    }
    free(results);
    return failed;
}

static int run_case(const lw_library *library, reader *r, const bound *bounds, uint64_t *checksum) {
    test_case c = {.label = read_name(r), .magnitude = {.dtype = ABSENT}, .rest = {.dtype = ABSENT}};
    name kernel = read_name(r);
    read_name(r); /* skip the keywords of the call from Python */
    name excused = read_name(r);
    uint32_t flags = read_u32(r);
    c.strict = (flags & STRICT) != 0, c.dtype = (int)read_u32(r), c.allowed = bounds[c.dtype];
    size_t layout_bytes = read_u32(r), scalar_count = read_u32(r);
    const void *layout = read_bytes(r, layout_bytes);
    const lw_scalar *scalars = (const lw_scalar *)read_bytes(r, scalar_count * sizeof(lw_scalar));
    c.input_count = read_u32(r);
    read_u32(r);
    if (c.input_count > LW_MAX_OPERANDS) {
        fail("a case has more than LW_MAX_OPERANDS inputs");
    }
    for (size_t i = 0; i < c.input_count; i++) {
        c.inputs[i] = read_array(r);
    }
    c.expected = read_array(r);
    if (flags & MAGNITUDE) {
        c.magnitude = read_array(r);
    }
    if (flags & REST) {
        c.rest = read_array(r);
    }
    if (!kernel.text[0] || strstr(excused.text, library->head.name)) {
        return 0;
    }
    if (!kernel_of(library, kernel.text, &c.call)) {
        printf("%s: the library has no kernel %s\n", c.label.text, kernel.text);
        return 1;
    }
    if (!c.call) {
        return 0; /* this library leaves the kernel to its base library, as relaxed_simd does to simd128 */
    }
    placed operands[LW_MAX_OPERANDS + 1];
    for (size_t i = 0; i < c.input_count; i++) {
        contiguous(c.inputs + i, c.inputs[i].dtype == ABSENT ? 0 : size_of(c.inputs[i].dtype), operands[i].strides);
    }
    contiguous(&c.expected, size_of(c.dtype), operands[c.input_count].strides);
    uint8_t *results = malloc(c.expected.count * size_of(c.dtype) + 1);
    int failed = run_once(&c, hosts, layout, scalars, operands, hosts->name, results);
    if (!counts_paths) {
        *checksum = mix_results(*checksum, c.dtype, results, c.expected.count);
    } else if (!failed) {
        c.right = results;
        failed = run_variants(&c, r, layout, layout_bytes, scalars, scalar_count, operands);
    }
    free(results);
    return failed;
}

static int run_file(const lw_library *library, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        fail(path);
    }
    size_t size = (size_t)ftell(file);
    uint8_t *content = malloc(size);
    rewind(file);
    if (fread(content, 1, size, file) != size) {
        fail(path);
    }
    fclose(file);

    reader r = {content, content + size};
    if (memcmp(read_bytes(&r, 8), "LWORACLE", 8) || read_u32(&r) != 3) {
        fail("expected an oracle file of version 3");
    }
    read_u32(&r);
    read_u64(&r);
    if (read_u64(&r) != LW_SIGNATURE) {
        fail("the oracle file comes from different contracts; generate it again");
    }
    name operation = read_name(&r);
    uint32_t bounds = read_u32(&r), cases = read_u32(&r);
    bound mine[LW_DTYPE_COUNT];
    for (uint32_t i = 0; i < bounds; i++) { /* without a name, for all dtypes or backends; later ones take precedence */
        name dtype = read_name(&r), backend = read_name(&r);
        const uint8_t *values = read_bytes(&r, sizeof *mine);
        for (int d = 0; d < LW_DTYPE_COUNT; d++) {
            if ((!dtype.text[0] || strcmp(dtype.text, lw_dtype_name(d)) == 0) &&
                (!backend.text[0] || strcmp(backend.text, library->head.name) == 0)) {
                memcpy(mine + d, values, sizeof *mine);
            }
        }
    }
    int failed = 0;
    uint64_t checksum = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < cases; i++) {
        reader record = r;
        read_bytes(&r, (size_t)read_u64(&record));
        record.end = r.at;
        failed += run_case(library, &record, mine, &checksum);
    }
    printf("%s %u %d %016llx\n", operation.text, cases, failed, (unsigned long long)checksum);
    free(content);
    return failed;
}

/* Sums 2^20 elements of 0.1. A sequential sum in float32 would be off by about 1000. The checksum is the bits of the
 * sum: they depend on the order of all additions, so they differ between libraries that add in another order. */
static int sum_of_tenths(const lw_library *library) {
    static float x[1 << 20];
    float sum = 0;
    uint32_t bits;
    lw_context context = context_of(hosts);
    lw_layout layout = {.ndim = 1, .inner = 1, .shape = {1 << 20}, .strides = {{sizeof(float)}}};
    if (!library->kernels.sum_float32) {
        return 0; /* this library leaves the kernel to its base library, as relaxed_simd does to simd128 */
    }
    for (int i = 0; i < 1 << 20; i++) {
        x[i] = 0.1f;
    }
    lw_status status = library->kernels.sum_float32(&context, &layout, (const void *[]){x}, (void *[]){&sum}, NULL);
    memcpy(&bits, &sum, sizeof bits);
    int failed = status != LW_OK || fabs((double)sum - (1 << 20) * (double)0.1f) > 0.2;
    printf("sum_of_tenths 1 %d %08x\n", failed, (unsigned)bits);
    return failed;
}

/* Decomposes a symmetric matrix. The oracle has no cases of eigh, because eigh returns two tensors. Only the
 * order of the eigenvalues is checked here; the checksum compares all results between libraries. */
static int eigenvectors(const lw_library *library) {
    enum { N = 40, ROW = N * sizeof(float) };
    static float x[N * N], values[N], vectors[N * N];
    lw_context context = context_of(hosts);
    lw_matrix_layout layout = {.m = N, .n = N, .k = N, .row_strides = {ROW, 0, ROW}, .column_strides = {4, 4, 4}};
    for (int i = 0; i < N * N; i++) {
        int row = i / N, column = i % N;
        x[i] = (float)((row * column * 7 + row + column) % 11 - 5);
    }
    if (!library->kernels.eigh_float32) {
        return 0; /* as in sum_of_tenths() */
    }
    lw_status status =
        library->kernels.eigh_float32(&context, &layout, (const void *[]){x}, (void *[]){values, vectors}, NULL);
    uint64_t checksum = mix_results(0xcbf29ce484222325, LW_FLOAT32, (const uint8_t *)values, N);
    checksum = mix_results(checksum, LW_FLOAT32, (const uint8_t *)vectors, N * N);
    int failed = status != LW_OK || !(values[0] < values[N - 1]);
    printf("eigenvectors 1 %d %016llx\n", failed, (unsigned long long)checksum);
    return failed;
}

#if defined(LW_COUNT_PATHS)
/* Sorts only the COUNT smallest elements, on one thread and on several, and returns whether they differ from the first
 * of a complete sort. The oracle has no such case: only topk sorts in part, and it calls several kernels. */
static int first_results(const lw_library *library) {
    enum { LENGTH = 1 << 17, COUNT = 9 };
    static int32_t x[LENGTH], all[LENGTH], first[COUNT];
    lw_kernel *sort = library->kernels.sort_int32;
    lw_layout layout = {.ndim = 1, .inner = 1, .shape = {LENGTH}, .strides = {{sizeof *x}, {sizeof *x}}};
    lw_context contexts[] = {context_of(hosts + PLAIN), context_of(hosts + BACKWARDS)};
    for (int i = 0; i < LENGTH; i++) {
        x[i] = (int32_t)((uint32_t)(LENGTH - i) * 2654435761u >> 8) - i * 64; /* spreads the smallest elements */
    }
    int failed = sort(contexts, &layout, (const void *[]){x}, (void *[]){all}, (lw_scalar[]){{.i = LENGTH}, {.i = 0}});
    for (int i = 0; i < 2; i++) {
        memset(first, 0x55, sizeof first);
        failed |= sort(contexts + i, &layout, (const void *[]){x}, (void *[]){first}, (lw_scalar[]){{.i = COUNT}, {0}});
        failed |= memcmp(first, all, sizeof first) != 0;
    }
    printf("first_results 1 %d 0\n", failed);
    return failed;
}

extern path_counter __start_lw_paths[], __stop_lw_paths[];

/* Prints each path once, with the sum of all counters that have its name. */
static void print_paths(void) {
    for (path_counter *path = __start_lw_paths; path < __stop_lw_paths; path++) {
        uint64_t count = 0;
        int is_first = 1;
        for (path_counter *other = __start_lw_paths; other < __stop_lw_paths; other++) {
            int same = strcmp(path->name, other->name) == 0;
            count += same ? other->count : 0;
            is_first &= !same || other >= path;
        }
        if (is_first) {
            printf("path %llu %s\n", (unsigned long long)count, path->name);
        }
    }
}
#endif

static const lw_library *open_library(int *argc, char ***argv) {
#if defined(LW_STATIC)
    (void)argc, (void)argv;
    return &lanewise_kernels;
#else
    void *handle = *argc > 1 ? dlopen((*argv)[1], RTLD_NOW) : NULL;
    const lw_library *library = handle ? dlsym(handle, "lanewise_kernels") : NULL;
    if (!library) {
        fail("expected a kernel library as the first argument");
    }
    (*argc)--, (*argv)++;
    return library;
#endif
}

int main(int argc, char **argv) {
    const lw_library *library = open_library(&argc, &argv);
    unsigned long long features = lw_cpu_features();
    printf("library %s, processor %llx\n", library->head.name, features);
    if (library->head.signature != LW_SIGNATURE) {
        fail("the library comes from different contracts; build it again");
    }
    if (library->head.cpu_features & ~features) {
        fail("the processor lacks features that the library needs");
    }
    int failed = sum_of_tenths(library) + eigenvectors(library), first = 1;
    if (argc > 2 && strcmp(argv[1], "--results") == 0) {
        if (!(results_file = fopen(argv[2], "wb"))) {
            fail("cannot open the file for results");
        }
        first = 3;
    }
#if defined(LW_COUNT_PATHS)
    if (argc > 1 && strcmp(argv[1], "--paths") == 0) {
        counts_paths = 1;
        first = 2;
        failed += library->kernels.sort_int32 ? first_results(library) : 0; /* relaxed_simd has no sorts */
    }
#endif
    for (int i = first; i < argc; i++) {
        failed += run_file(library, argv[i]);
    }
#if defined(LW_COUNT_PATHS)
    print_paths();
#endif
    if (results_file && fclose(results_file)) {
        fail("cannot write the results");
    }
#if defined(__wasm__) /* Node 20 crashes when a long program with relaxed SIMD returns from main */
    fflush(stdout);
    _Exit(failed != 0);
#endif
    return failed != 0;
}
