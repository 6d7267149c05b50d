/* Runs a kernel library over the oracle's files without Python: under an emulator, or with sanitizers.
 *
 *     runner LIBRARY ORACLE...              loads a library
 *     runner ORACLE...                      if built with LW_STATIC, which links the kernels in
 *     runner LIBRARY --results FILE ORACLE  also writes the bytes of all results to FILE, every NaN as zeros
 *
 * Prints one line per file: operation, cases, failures, and a checksum of all results, to compare bits between
 * libraries. contracts/generator/oracle.py defines the format of the files; is_near() follows tests/sweep/judge.py. */
#include "cpu.h"
#include "kernel_names.h"
#include "lanewise_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(LW_STATIC)
#include <dlfcn.h>
#endif

enum { GUARD = 64, CANARY = 0xa5, ABSENT = -1, STRICT = 1, MAX_BOUNDS = 16, SHOWN = 3 };
static const size_t item_size[] = {1, 4, 8, 2, 4, 8};
static const char *const dtype_name[] = {"bool", "int32", "int64", "float16", "float32", "float64"};
static const int digits[] = {0, 0, 0, 11, 24, 53}, smallest[] = {0, 0, 0, -24, -149, -1074},
                 limit[] = {0, 0, 0, 16, 128, 0};

typedef struct {
    const uint8_t *at, *end;
} reader;

typedef struct {
    char text[128];
} name;

typedef struct {
    int32_t dtype; /* an index into item_size, or ABSENT for an omitted input */
    size_t count, bytes;
    const uint8_t *data;
} array;

typedef struct {
    double ulp, absolute, relative, magnitude;
} bound;

static void fail(const char *why) {
    fprintf(stderr, "runner: %s\n", why);
    exit(2);
}

static const uint8_t *read_bytes(reader *r, size_t bytes) {
    const uint8_t *found = r->at;
    if ((size_t)(r->end - r->at) < bytes) {
        fail("the oracle file is truncated");
    }
    r->at += bytes;
    return found;
}

static uint32_t read_u32(reader *r) {
    uint32_t value;
    memcpy(&value, read_bytes(r, sizeof value), sizeof value);
    return value;
}

static uint64_t read_u64(reader *r) {
    uint64_t value;
    memcpy(&value, read_bytes(r, sizeof value), sizeof value);
    return value;
}

static name read_name(reader *r) {
    name found = {""};
    uint32_t size = read_u32(r);
    const uint8_t *data = read_bytes(r, size + (8 - (4 + size) % 8) % 8);
    memcpy(found.text, data, size < sizeof found.text ? size : sizeof found.text - 1);
    return found;
}

static array read_array(reader *r) {
    array a = {(int32_t)read_u32(r), 1, 0, NULL};
    uint32_t ndim = read_u32(r);
    if (a.dtype == ABSENT) {
        return a;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        a.count *= (size_t)read_u64(r);
    }
    a.bytes = (size_t)read_u64(r);
    a.data = read_bytes(r, a.bytes + (8 - a.bytes % 8) % 8);
    return a;
}

/* -- comparing with the reference -- */

static double half_to_double(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double element(int dtype, const uint8_t *p) {
    uint16_t half;
    float single;
    double full;
    if (dtype == LW_FLOAT16) {
        return memcpy(&half, p, 2), half_to_double(half);
    }
    if (dtype == LW_FLOAT32) {
        return memcpy(&single, p, 4), single;
    }
    return memcpy(&full, p, 8), full;
}

static double unit(int dtype, double value) {
    int exponent = smallest[dtype];
    if (value != 0) {
        frexp(fmin(fabs(value), limit[dtype] ? ldexp(1, limit[dtype] - 1) : HUGE_VAL), &exponent);
    }
    return ldexp(1, exponent - digits[dtype] > smallest[dtype] ? exponent - digits[dtype] : smallest[dtype]);
}

static double rounded_once(int dtype, double value) {
    if (isnan(value) || isinf(value) || dtype == LW_FLOAT64) {
        return value;
    }
    double step = unit(dtype, value), rounded = nearbyint(value / step) * step;
    return limit[dtype] && fabs(rounded) >= ldexp(1, limit[dtype]) ? copysign(INFINITY, value)
                                                                   : copysign(rounded, value);
}

static int is_near(double got, double expected, int dtype, bound b, double magnitude, int strict) {
    if (isnan(expected) || isnan(got)) {
        return isnan(expected) && isnan(got);
    }
    int exact = b.ulp == 0 && b.absolute == 0 && b.relative == 0 && b.magnitude == 0;
    if (exact || expected == 0 || isinf(expected)) {
        double rounded = rounded_once(dtype, expected);
        if (strict && got == 0 && rounded == 0) {
            return !signbit(got) == !signbit(rounded);
        }
        if (exact || strict || isinf(expected)) {
            return got == rounded;
        }
    }
    double max = limit[dtype] ? ldexp(1, limit[dtype]) : HUGE_VAL;
    double distance = fabs(fmax(-max, fmin(max, got)) - fmax(-max, fmin(max, expected)));
    double allowed = fmax(fmax(b.ulp * unit(dtype, expected), b.absolute),
                          fmax(b.relative * fabs(expected), b.magnitude * magnitude));
    return distance <= allowed;
}

/* -- calling a kernel -- */

static void *allocate(lw_context *context, size_t bytes) {
    (void)context;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void release(lw_context *context, void *memory) {
    (void)context;
    free(memory);
}

static lw_kernel *kernel_of(const lw_library *library, const char *kernel) {
    lw_kernel *const *table = (lw_kernel *const *)&library->kernels;
    for (int i = 0; i < LW_KERNEL_COUNT; i++) {
        if (strcmp(kernel_names[i], kernel) == 0) {
            return table[i];
        }
    }
    return NULL;
}

/* Copies an array to the end of an allocation, so that the address sanitizer notices reads past it. The copy is offset
 * by one item, so that it is misaligned for vectors. */
static uint8_t *copy_guarded(const array *a, void **memory) {
    size_t lead = a->dtype == ABSENT ? 0 : item_size[a->dtype];
    *memory = malloc(lead + a->bytes + !a->bytes);
    memcpy((uint8_t *)*memory + lead, a->data, a->bytes);
    return (uint8_t *)*memory + lead;
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
        const uint8_t *p = out + i * item_size[dtype];
        int is_nan = dtype >= LW_FLOAT16 && isnan(element(dtype, p));
        sum = is_nan ? mix(sum, (const uint8_t *)"nan", 3) : mix(sum, p, item_size[dtype]);
        if (results_file && fwrite(is_nan ? zeros : p, item_size[dtype], 1, results_file) != 1) {
            fail("cannot write the results");
        }
    }
    return sum;
}

static int run_case(const lw_library *library, reader *r, bound b, uint64_t *checksum) {
    name label = read_name(r), kernel = read_name(r);
    read_name(r); /* skip the keywords of the call from Python */
    name excused = read_name(r);
    int strict = read_u32(r) & STRICT, dtype = (int)read_u32(r);
    size_t layout_bytes = read_u32(r), scalar_count = read_u32(r);
    const void *layout = read_bytes(r, layout_bytes);
    const lw_scalar *scalars = (const lw_scalar *)read_bytes(r, scalar_count * sizeof(lw_scalar));
    size_t input_count = read_u32(r);
    int has_magnitude = (int)read_u32(r);
    array inputs[LW_MAX_OPERANDS];
    if (input_count > LW_MAX_OPERANDS) {
        fail("more inputs than operands");
    }
    for (size_t i = 0; i < input_count; i++) {
        inputs[i] = read_array(r);
    }
    array expected = read_array(r), magnitude = {ABSENT, 0, 0, NULL};
    if (has_magnitude) {
        magnitude = read_array(r);
    }
    if (!kernel.text[0] || strstr(excused.text, library->head.name)) {
        return 0;
    }

    lw_kernel *call = kernel_of(library, kernel.text);
    if (!call) {
        printf("%s: the library has no kernel %s\n", label.text, kernel.text);
        return 1;
    }
    void *memory[LW_MAX_OPERANDS] = {NULL};
    const void *pointers[LW_MAX_OPERANDS] = {NULL};
    for (size_t i = 0; i < input_count; i++) {
        if (inputs[i].dtype != ABSENT) {
            pointers[i] = copy_guarded(&inputs[i], &memory[i]);
        }
    }
    size_t bytes = expected.count * item_size[dtype], lead = GUARD + item_size[dtype];
    uint8_t *guarded = malloc(lead + bytes + GUARD), *out = guarded + lead;
    memset(guarded, CANARY, lead + bytes + GUARD);
    lw_context context = {.allocate = allocate, .release = release};
    lw_status status = call(&context, layout, pointers, (void *[]){out}, scalars);

    int failed = status != LW_OK;
    if (failed) {
        printf("%s: status %d\n", label.text, (int)status);
    }
    for (size_t i = 0; i < GUARD && !failed; i++) {
        failed = out[-1 - (ptrdiff_t)i] != CANARY || out[bytes + i] != CANARY;
        if (failed) {
            printf("%s: wrote outside its result\n", label.text);
        }
    }
    for (size_t i = 0; i < expected.count && !failed; i++) {
        const uint8_t *p = out + i * item_size[dtype];
        if (dtype < LW_FLOAT16) {
            failed = memcmp(p, expected.data + i * item_size[dtype], item_size[dtype]) != 0;
            if (failed) {
                printf("%s: element %zu (%s) differs\n", label.text, i, dtype_name[dtype]);
            }
            continue;
        }
        double got = element(dtype, p), reference = element(LW_FLOAT64, expected.data + i * 8);
        double scale = has_magnitude ? element(LW_FLOAT64, magnitude.data + i * 8) : 0;
        failed = !is_near(got, reference, dtype, b, scale, strict);
        if (failed) {
            printf("%s: element %zu is %.17g, %.17g expected\n", label.text, i, got, reference);
        }
    }
    *checksum = mix_results(*checksum, dtype, out, expected.count);
    for (size_t i = 0; i < input_count; i++) {
        free(memory[i]);
    }
    free(guarded);
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
    if (memcmp(read_bytes(&r, 8), "LWORACLE", 8) || read_u32(&r) != 1) {
        fail("expected an oracle file of version 1");
    }
    read_u32(&r);
    read_u64(&r);
    if (read_u64(&r) != LW_SIGNATURE) {
        fail("the oracle file belongs to other contracts; generate it again");
    }
    name operation = read_name(&r);
    uint32_t bounds = read_u32(&r), cases = read_u32(&r);
    bound mine = {0, 0, 0, 0};
    for (uint32_t i = 0; i < bounds; i++) { /* the first is for all backends; a later one replaces it for one */
        name backend = read_name(&r);
        const uint8_t *values = read_bytes(&r, sizeof mine);
        if (!backend.text[0] || strcmp(backend.text, library->head.name) == 0) {
            memcpy(&mine, values, sizeof mine);
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

/* Sums 2^20 elements of 0.1. A sequential sum in float32 would be off by 1000. The bits of the result depend on the
 * order of all additions. */
static int sum_of_tenths(const lw_library *library) {
    static float x[1 << 20];
    float sum = 0;
    uint32_t bits;
    lw_context context = {.allocate = allocate, .release = release};
    lw_layout layout = {.ndim = 1, .inner = 1, .shape = {1 << 20}, .strides = {{sizeof(float)}}};
    for (int i = 0; i < 1 << 20; i++) {
        x[i] = 0.1f;
    }
    lw_status status = library->kernels.sum_float32(&context, &layout, (const void *[]){x}, (void *[]){&sum}, NULL);
    memcpy(&bits, &sum, sizeof bits);
    int failed = status != LW_OK || fabs((double)sum - (1 << 20) * (double)0.1f) > 0.2;
    printf("sum_of_tenths 1 %d %08x\n", failed, (unsigned)bits);
    return failed;
}

/* Decomposes a symmetric matrix. The oracle has no cases of eigh, because it returns two tensors. */
static int eigenvectors(const lw_library *library) {
    enum { N = 40, ROW = N * sizeof(float) };
    static float x[N * N], values[N], vectors[N * N];
    lw_context context = {.allocate = allocate, .release = release};
    lw_matrix_layout layout = {.m = N, .n = N, .k = N, .row_strides = {ROW, 0, ROW}, .column_strides = {4, 4, 4}};
    for (int i = 0; i < N * N; i++) {
        int row = i / N, column = i % N;
        x[i] = (float)((row * column * 7 + row + column) % 11 - 5);
    }
    lw_status status =
        library->kernels.eigh_float32(&context, &layout, (const void *[]){x}, (void *[]){values, vectors}, NULL);
    uint64_t checksum = mix_results(0xcbf29ce484222325, LW_FLOAT32, (const uint8_t *)values, N);
    checksum = mix_results(checksum, LW_FLOAT32, (const uint8_t *)vectors, N * N);
    int failed = status != LW_OK || !(values[0] < values[N - 1]);
    printf("eigenvectors 1 %d %016llx\n", failed, (unsigned long long)checksum);
    return failed;
}

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
        fail("the library belongs to other contracts; build it again");
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
    for (int i = first; i < argc; i++) {
        failed += run_file(library, argv[i]);
    }
    if (results_file && fclose(results_file)) {
        fail("cannot write the results");
    }
    return failed != 0;
}
