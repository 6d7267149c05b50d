/* Tests every primitive of core/simd against the C library or plain C, lane by lane. Compiled for one instruction set;
 * test_vocabulary.py runs it on all of them. Exits with 0 if every check passes.
 *     vocabulary                 on Linux, an inaccessible page follows the memory that partial loads read
 *     vocabulary unguarded       without that page, for emulators that read more than a load asks for */
#include "checks.h"

#include "lanewise.h"
#include "simd/simd.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

typedef struct numbers {
    float x[VF32_LANES], y[VF32_LANES], z[VF32_LANES];
    vf32 a, b, c;
} numbers;

static numbers random_numbers(void) {
    numbers n;
    for (int i = 0; i < VF32_LANES; i++) {
        n.x[i] = random_float();
        n.y[i] = random_float();
        n.z[i] = random_float();
    }
    n.a = vf32_load(n.x);
    n.b = vf32_load(n.y);
    n.c = vf32_load(n.z);
    return n;
}

static void expect_lanes(const char *name, const numbers *n, vf32 got, const float *expected) {
    for (int i = 0; i < VF32_LANES; i++) {
        expect(same_float(got[i], expected[i]), name, n->x[i], n->y[i], n->z[i], got[i], expected[i]);
    }
}

#define EACH(i) for (int i = 0; i < VF32_LANES; i++)
#define CHECK(got, reference)                  \
    do {                                       \
        float expected[VF32_LANES];            \
        EACH(i) expected[i] = (reference);     \
        expect_lanes(#got, &n, got, expected); \
    } while (0)
#define CHECK_MASK(got, reference)                                                                      \
    do {                                                                                                \
        vm32 mask = (got);                                                                              \
        EACH(i) expect(mask[i] == ((reference) ? -1 : 0), #got, n.x[i], n.y[i], 0, mask[i], reference); \
    } while (0)

static float minimum(float a, float b) {
    if (a != a || b != b) {
        return NAN;
    }
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static float maximum(float a, float b) {
    if (a != a || b != b) {
        return NAN;
    }
    return a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

static void test_floats(void) {
    for (int round = 0; round < 100000 / VF32_LANES; round++) {
        numbers n = random_numbers();
        CHECK(vf32_set(n.x[0]), n.x[0]);
        CHECK(n.a + n.b, n.x[i] + n.y[i]);
        CHECK(n.a * n.b, n.x[i] * n.y[i]);
        CHECK(n.a / n.b, n.x[i] / n.y[i]);
        CHECK(-n.a, -n.x[i]);
        CHECK(vf32_sqrt(n.a), sqrtf(n.x[i]));
        CHECK(vf32_floor(n.a), floorf(n.x[i]));
        CHECK(vf32_ceil(n.a), ceilf(n.x[i]));
        CHECK(vf32_trunc(n.a), truncf(n.x[i]));
        CHECK(vf32_round(n.a), rintf(n.x[i]));
        CHECK(vf32_abs(n.a), fabsf(n.x[i]));
        CHECK(vf32_copysign(n.a, n.b), copysignf(n.x[i], n.y[i]));
        CHECK(vf32_minimum(n.a, n.b), minimum(n.x[i], n.y[i]));
        CHECK(vf32_maximum(n.a, n.b), maximum(n.x[i], n.y[i]));
        CHECK(vf32_fma_strict(n.a, n.b, n.c), fused(n.x[i], n.y[i], n.z[i]));
        CHECK(vf32_add_on_fma_unit(n.a, n.b), n.x[i] + n.y[i]);
        vf32 either = vf32_fma(n.a, n.b, n.c);
        CHECK(either, same_float(either[i], n.x[i] * n.y[i] + n.z[i]) ? either[i] : fused(n.x[i], n.y[i], n.z[i]));
        char unaligned[sizeof(float) + 1];
        memcpy(unaligned + 1, n.x, sizeof(float));
        vf32 broadcast = vf32_fma(vf32_set(n.x[0]), n.b, n.c);
        CHECK(vf32_fma_broadcast((const float *)(unaligned + 1), n.b, n.c), broadcast[i]);
        CHECK(vf32_at_least(n.a, vf32_set(-2)), n.x[i] < -2 ? -2 : n.x[i]);
        CHECK(vf32_at_most(n.a, vf32_set(3)), n.x[i] > 3 ? 3 : n.x[i]);
        CHECK(vf32_select(vf32_lt(n.a, n.b), n.b, n.c), n.x[i] < n.y[i] ? n.y[i] : n.z[i]);
        CHECK(vf32_from_bits(vf32_bits(n.a)), n.x[i]);
        CHECK_MASK(vf32_eq(n.a, n.b), n.x[i] == n.y[i]);
        CHECK_MASK(vf32_ne(n.a, n.b), n.x[i] != n.y[i]);
        CHECK_MASK(vf32_lt(n.a, n.b), n.x[i] < n.y[i]);
        CHECK_MASK(vf32_le(n.a, n.b), n.x[i] <= n.y[i]);
        CHECK_MASK(vf32_gt(n.a, n.b), n.x[i] > n.y[i]);
        CHECK_MASK(vf32_ge(n.a, n.b), n.x[i] >= n.y[i]);
        CHECK_MASK(vf32_isnan(n.a), n.x[i] != n.x[i]);
    }
    for (int k = -252; k <= 254; k++) {
        numbers n;
        EACH(i)
        n.x[i] = ldexpf(1.0f + (float)(random_bits() >> 9) * 0x1p-23f, (int)(random_bits() % 48) - 24),
        n.y[i] = (float)k, n.z[i] = 0;
        n.a = vf32_load(n.x);
        vf32 k_magic = vf32_set((float)SIMD_ROUND_MAGIC + (float)k);
        CHECK(vf32_scale(n.a, k_magic), ldexpf(n.x[i], k));
        CHECK(vf32_scale_floor(n.a, vf32_set((float)k)), ldexpf(n.x[i], k));
        CHECK(vf32_scale_floor(n.a, vf32_set((float)k + 0.9375f)), ldexpf(n.x[i], k));
        if (k >= -126 + 24 && k <= 127 - 24) {
            CHECK(vf32_scale_normal(n.a, k_magic), ldexpf(n.x[i], k));
        }
        vf32 exponent = vf32_set((float)SIMD_EXPONENT_MAGIC + (float)k);
        if (k >= -126 && k <= 127) {
            CHECK(vf32_power_of_two(exponent), ldexpf(1, k));
        }
        if (k == -127 || k == 128) {
            CHECK(vf32_power_of_two(exponent), k < 0 ? 0 : INFINITY);
        }
    }
}

#define CHECK_INT(got, reference)                                                                              \
    do {                                                                                                       \
        vi32 lanes = (vi32)(got);                                                                              \
        EACH(i) expect(lanes[i] == (int32_t)(reference), #got, x[i], y[i], 0, lanes[i], (int32_t)(reference)); \
    } while (0)

static void test_integers(void) {
    float squares[32];
    for (int i = 0; i < 32; i++) {
        squares[i] = (float)(i * i);
    }
    static const uint32_t table[8] = {7, 0x80000000u, 0xffffffffu, 0, 0x01020304, 0xfedcba98u, 1, 0x5a5a5a5a};
    for (int round = 0; round < 20000 / VF32_LANES; round++) {
        int32_t x[VF32_LANES], y[VF32_LANES];
        EACH(i) {
            x[i] = round % 2 ? (int32_t)random_bits() : special_integers[random_bits() % INTEGERS];
            y[i] = round % 3 ? (int32_t)random_bits() : special_integers[random_bits() % INTEGERS];
        }
        vi32 a = vi32_load(x), b = vi32_load(y);
        CHECK_INT(a + b, (uint32_t)x[i] + (uint32_t)y[i]);
        CHECK_INT(a - b, (uint32_t)x[i] - (uint32_t)y[i]);
        CHECK_INT(a * b, (uint32_t)x[i] * (uint32_t)y[i]);
        CHECK_INT(-a, 0u - (uint32_t)x[i]);
        CHECK_INT(vi32_and(a, b), x[i] & y[i]);
        CHECK_INT(vi32_or(a, b), x[i] | y[i]);
        CHECK_INT(vi32_xor(a, b), x[i] ^ y[i]);
        CHECK_INT(vi32_not(a), ~x[i]);
        CHECK_INT(vi32_shift_left(a, 5), (uint32_t)x[i] << 5);
        CHECK_INT(vi32_shift_right(a, 5), x[i] >> 5);
        CHECK_INT(vu32_shift_right(vi32_to_vu32(a), 5), (uint32_t)x[i] >> 5);
        CHECK_INT(vi32_shift_left_each(a, b), y[i] < 0 || y[i] > 31 ? 0 : (uint32_t)x[i] << y[i]);
        CHECK_INT(vi32_shift_left_each(a, vi32_and(b, vi32_set(31))), (uint32_t)x[i] << (y[i] & 31));
        CHECK_INT(vi32_shift_right_each(a, b), x[i] >> (y[i] < 0 || y[i] > 31 ? 31 : y[i]));
        CHECK_INT(vi32_shift_right_each(a, vi32_and(b, vi32_set(31))), x[i] >> (y[i] & 31));
        CHECK_INT(vi32_minimum(a, b), x[i] < y[i] ? x[i] : y[i]);
        CHECK_INT(vi32_maximum(a, b), x[i] > y[i] ? x[i] : y[i]);
        CHECK_INT(vi32_abs(a), x[i] < 0 ? 0u - (uint32_t)x[i] : (uint32_t)x[i]);
        CHECK_INT(vu32_mul_high(vi32_to_vu32(a), vi32_to_vu32(b)), ((uint64_t)(uint32_t)x[i] * (uint32_t)y[i]) >> 32);
        CHECK_INT(vu32_lookup(table, vi32_and(a, vi32_set(7))), table[x[i] & 7]);
        CHECK_INT(vf32_to_vi32(vf32_lookup_16(squares, a)), (x[i] & 15) * (x[i] & 15));
        CHECK_INT(vf32_to_vi32(vf32_lookup_32(squares, a)), (x[i] & 31) * (x[i] & 31));
        CHECK_INT(vi32_eq(a, b), x[i] == y[i] ? -1 : 0);
        CHECK_INT(vi32_ne(a, b), x[i] != y[i] ? -1 : 0);
        CHECK_INT(vi32_lt(a, b), x[i] < y[i] ? -1 : 0);
        CHECK_INT(vi32_ge(a, b), x[i] >= y[i] ? -1 : 0);
        CHECK_INT(vu32_lt(vi32_to_vu32(a), vi32_to_vu32(b)), (uint32_t)x[i] < (uint32_t)y[i] ? -1 : 0);
        CHECK_INT(vi32_select(vi32_lt(a, b), a, b), x[i] < y[i] ? x[i] : y[i]);
        CHECK_INT(vm32_xor(vi32_lt(a, b), vi32_lt(b, vi32_set(0))), (x[i] < y[i]) != (y[i] < 0) ? -1 : 0);
        CHECK_INT(vm32_and(vi32_lt(a, b), vi32_lt(b, vi32_set(0))), x[i] < y[i] && y[i] < 0 ? -1 : 0);
        CHECK_INT(vm32_or(vi32_lt(a, b), vm32_not(vi32_lt(b, vi32_set(0)))), x[i] < y[i] || y[i] >= 0 ? -1 : 0);
        CHECK_INT(vm32_to_vi32(vi32_lt(a, b)), x[i] < y[i]);
        CHECK_INT(vi32_iota(), i);
        vf32 converted = vi32_to_vf32(a);
        wf64 wide = vi32_to_wf64(a), long_float;
        wi64 product = vi32_to_wi64(a) * vi32_to_wi64(b);
        long_float = wi64_to_wf64(product);
        vf32 rounded = wi64_to_vf32(product);
        CHECK_INT(wi64_to_vi32(product), (uint32_t)x[i] * (uint32_t)y[i]);
        EACH(i) {
            int64_t exact = (int64_t)x[i] * y[i];
            expect(converted[i] == (float)x[i], "vi32_to_vf32", x[i], 0, 0, converted[i], (float)x[i]);
            expect(wide[i] == x[i], "vi32_to_wf64", x[i], 0, 0, wide[i], x[i]);
            expect(product[i] == exact, "vi32_to_wi64", x[i], y[i], 0, (double)product[i], (double)exact);
            expect(long_float[i] == (double)exact, "wi64_to_wf64", x[i], y[i], 0, long_float[i], (double)exact);
            expect(rounded[i] == (float)exact, "wi64_to_vf32", x[i], y[i], 0, rounded[i], (float)exact);
        }
    }
}

static int64_t saturated(double x, int64_t low, int64_t high) {
    if (x != x) {
        return 0;
    }
    if (x >= (double)high) {
        return high;
    }
    return x <= (double)low ? low : (int64_t)x;
}

/* Returns the float16 nearest to x, in plain arithmetic. With e the exponent of x, neighboring float16 values differ by
 * 2^(e - 10), or by 2^-24 if they are denormal. */
static float nearest_float16(double x) {
    if (x != x || x == 0 || fabs(x) >= 65520) {
        return (float)(fabs(x) >= 65520 ? copysign(INFINITY, x) : x);
    }
    int exponent = ilogb(x);
    double spacing = ldexp(1, (exponent < -14 ? -14 : exponent) - 10);
    return (float)copysign(rint(x / spacing) * spacing, x);
}

static float decoded_float16(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                                : ldexpf((float)(mantissa + (exponent ? 1024 : 0)), (exponent ? exponent : 1) - 25);
    return bits & 0x8000 ? -size : size;
}

static void test_conversions(void) {
    for (uint32_t first = 0; first < 65536; first += VF32_LANES) {
        uint16_t halves[VF32_LANES], again[VF32_LANES];
        EACH(i) halves[i] = (uint16_t)(first + (uint32_t)i);
        vf32 x = vf32_load_float16(halves);
        vf32_store_float16(again, x);
        EACH(i) {
            float expected = decoded_float16(halves[i]);
            expect(same_float(x[i], expected), "vf32_from_float16", halves[i], 0, 0, x[i], expected);
            int kept =
                expected != expected ? decoded_float16(again[i]) != decoded_float16(again[i]) : again[i] == halves[i];
            expect(kept, "vf32_to_float16", halves[i], 0, 0, again[i], halves[i]);
        }
    }
    for (int round = 0; round < 200000 / VF32_LANES; round++) {
        numbers n = random_numbers();
        vi32 whole = vf32_to_vi32(n.a);
        wf64 exact = vf32_to_wf64(n.a), wide;
        EACH(i) wide[i] = (double)n.x[i] * (1 + (double)(int32_t)random_bits() * 0x1p-52);
        EACH(i)
        if (round % 2 && fabs(wide[i]) < 1e30) {
            wide[i] = nearest_float16(wide[i]) * (1 + 0x1p-11) * (1 + 0x1p-40);
        }
        wi64 longs = vf32_to_wi64(n.a), wide_longs = wf64_to_wi64(wide);
        vi32 wide_whole = wf64_to_vi32(wide);
        vf32 narrow = wf64_to_vf32(wide);
        uint16_t halves[VF32_LANES], odd_halves[VF32_LANES];
        vf32_store_float16(halves, n.a);
        vf32_store_float16(odd_halves, wf64_to_vf32_odd(wide));
        wf64 below = wf64_floor(wide), half = wf64_floor(exact * wf64_set(0.5));
        EACH(i) {
            double x = n.x[i], w = wide[i];
            expect(w != w ? below[i] != below[i] : below[i] == floor(w), "wf64_floor", w, 0, 0, below[i], floor(w));
            expect(x != x ? half[i] != half[i] : half[i] == floor(x / 2), "wf64_floor", x / 2, 0, 0, half[i],
                   floor(x / 2));
            int64_t expected = saturated(x, INT32_MIN, INT32_MAX), wide_expected = saturated(w, INT32_MIN, INT32_MAX);
            expect(whole[i] == expected, "vf32_to_vi32", x, 0, 0, whole[i], (double)expected);
            expect(wide_whole[i] == wide_expected, "wf64_to_vi32", w, 0, 0, wide_whole[i], (double)wide_expected);
            expected = saturated(x, INT64_MIN, INT64_MAX), wide_expected = saturated(w, INT64_MIN, INT64_MAX);
            expect(longs[i] == expected, "vf32_to_wi64", x, 0, 0, (double)longs[i], (double)expected);
            expect(wide_longs[i] == wide_expected, "wf64_to_wi64", w, 0, 0, (double)wide_longs[i],
                   (double)wide_expected);
            expect(x != x || exact[i] == x, "vf32_to_wf64", x, 0, 0, exact[i], x);
            expect(same_float(narrow[i], (float)w), "wf64_to_vf32", w, 0, 0, narrow[i], (float)w);
            float half = decoded_float16(halves[i]), odd_half = decoded_float16(odd_halves[i]);
            expect(same_float(half, nearest_float16(x)), "vf32_to_float16", x, 0, 0, half, nearest_float16(x));
            expect(same_float(odd_half, nearest_float16(w)), "wf64_to_vf32_odd", w, 0, 0, odd_half, nearest_float16(w));
        }
    }
}

static void test_masks(void) {
    for (int set = 0; set <= VF32_LANES; set++) {
        vm32 one = vi32_eq(vi32_iota(), vi32_set(set)), rest = vm32_not(one);
        expect(vm32_any(one) == (set < VF32_LANES), "vm32_any of one", set, 0, 0, vm32_any(one), set < VF32_LANES);
        expect(vm32_all(rest) == (set == VF32_LANES), "vm32_all but one", set, 0, 0, vm32_all(rest), set == VF32_LANES);
    }
    expect(!vm32_any(vm32_set(0)) && vm32_all(vm32_set(1)), "vm32_set", 0, 1, 0, 0, 0);
    vm64 either = vm64_or(vm64_set(1), vm64_set(0));
    for (int i = 0; i < VF64_LANES; i++) {
        expect(either[i] == -1, "vm64_or", i, 0, 0, (double)either[i], -1);
    }
}

static void test_shuffles(void) {
    numbers n = random_numbers();
    vf32 even = vf32_even(n.a, n.b), odd = vf32_odd(n.a, n.b);
    float both[2 * VF32_LANES];
    EACH(i) both[i] = n.x[i], both[VF32_LANES + i] = n.y[i];
    CHECK(even, both[2 * i]);
    CHECK(odd, both[2 * i + 1]);
    CHECK(vf32_zip_low(even, odd), n.x[i]);
    CHECK(vf32_zip_high(even, odd), n.y[i]);
}

static void test_reductions(void) {
    for (int round = 0; round < 1000; round++) {
        numbers n = random_numbers();
        float sum[VF32_LANES], largest[VF32_LANES];
        EACH(i) sum[i] = largest[i] = n.x[i];
        for (int half = VF32_LANES / 2; half; half /= 2) {
            for (int i = 0; i < half; i++) {
                sum[i] += sum[i + half];
                largest[i] = maximum(largest[i], largest[i + half]);
            }
        }
        float got_sum = vf32_reduce_add(n.a), got_largest = vf32_reduce_maximum(n.a);
        expect(same_float(got_sum, sum[0]), "vf32_reduce_add", 0, 0, 0, got_sum, sum[0]);
        expect(same_float(got_largest, largest[0]), "vf32_reduce_maximum", 0, 0, 0, got_largest, largest[0]);
    }
    for (int width = 1; width < VF32_LANES; width *= 2) {
        vi32 spread = width == 1   ? vi32_spread(vi32_iota(), 1)
                      : width == 2 ? vi32_spread(vi32_iota(), 2)
                      : width == 4 ? vi32_spread(vi32_iota(), 4)
                                   : vi32_spread(vi32_iota(), 8);
        for (int i = 0; i < VF32_LANES; i++) {
            int expected = i / (2 * width) * 2 * width + width - 1;
            expect(spread[i] == expected, "vi32_spread", i, width, 0, spread[i], expected);
        }
    }
    expect(vi32_last(vi32_iota()) == VF32_LANES - 1, "vi32_last", 0, 0, 0, vi32_last(vi32_iota()), VF32_LANES - 1);
}

static int guarded; /* whether an inaccessible page follows the memory of memory_before_guard */

/* Returns the last `bytes` bytes of a static buffer. On Linux, if `guarded`, inaccessible pages follow them. */
static char *memory_before_guard(size_t bytes) {
#ifdef __linux__
    static char *pages;
    if (!pages) {
        pages = mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (guarded) {
            mprotect(pages + 65536, 65536, PROT_NONE);
        }
    }
    return pages + 65536 - bytes;
#else
    static char memory[4096];
    return memory + sizeof memory - bytes;
#endif
}

/* For each n: loads n elements that end where readable memory ends, and stores them unaligned. Checks that the bytes
 * around them keep their values, and that the lanes that were not loaded hold `pad`. */
#define TEST_MEMORY(type, element, load, store, load_partial, store_partial, pad, lanes)                  \
    for (int n = 0; n <= (lanes); n++) {                                                                  \
        element *from = (element *)memory_before_guard((size_t)n * sizeof(element));                      \
        unsigned char space[(lanes + 2) * sizeof(element) + 1], expected[sizeof space];                   \
        memset(space, 0x5a, sizeof space);                                                                \
        memset(expected, 0x5a, sizeof expected);                                                          \
        for (int i = 0; i < n; i++) from[i] = (element)((i * 7 + 1) % 2);                                 \
        memcpy(expected + 1 + sizeof(element), from, (size_t)n * sizeof(element));                        \
        type loaded = n == (lanes) ? load(from) : load_partial(from, n, pad);                             \
        store_partial((element *)(space + 1 + sizeof(element)), loaded, n);                               \
        int kept = memcmp(space, expected, sizeof space) == 0;                                            \
        store((element *)(space + 1 + sizeof(element)), loaded);                                          \
        kept &= memcmp(space, expected, 1 + (size_t)(n + 1) * sizeof(element)) == 0;                      \
        kept &= memcmp(space + sizeof space - sizeof(element), expected + sizeof space - sizeof(element), \
                       sizeof(element)) == 0;                                                             \
        element padding[lanes];                                                                           \
        store(padding, pad);                                                                              \
        kept &= memcmp(space + 1 + (size_t)(n + 1) * sizeof(element), padding,                            \
                       (size_t)(lanes - n) * sizeof(element)) == 0;                                       \
        expect(kept, #store_partial, n, 0, 0, 0, 0);                                                      \
    }
#define TEST_STORAGE(type, element, suffix, pad, lanes)                                                \
    TEST_MEMORY(type, element, type##_load##suffix, type##_store##suffix, type##_load_partial##suffix, \
                type##_store_partial##suffix, pad, lanes)

static void test_gather(void) {
    int32_t row[3 * 50];
    for (int i = 0; i < 150; i++) {
        row[i] = 1000 * i - 7000;
    }
    for (int round = 0; round < 100; round++) {
        int32_t index[VF32_LANES];
        EACH(i) index[i] = (int32_t)(random_bits() % 50);
        for (int step = -3; step <= 3; step++) { /* step 0 gives all lanes the same element */
            const int32_t *first = step < 0 ? row + 149 : row;
            vi32 got = vi32_gather((const char *)first, step * (int64_t)sizeof *row, vi32_load(index));
            EACH(i) expect(got[i] == first[step * index[i]], "vi32_gather", index[i], step, 0, got[i], 0);
        }
    }
}

static void test_memory(void) {
    TEST_STORAGE(vf32, float, , vf32_set(-3.5f), VF32_LANES)
    TEST_STORAGE(vi32, int32_t, , vi32_set(-3), VF32_LANES)
    TEST_STORAGE(vf64, double, , vf64_set(-3.5), VF64_LANES)
    TEST_STORAGE(vi64, int64_t, , vi64_set(-3), VF64_LANES)
    TEST_STORAGE(wf64, double, , wf64_set(-3.5), VF32_LANES)
    TEST_STORAGE(wi64, int64_t, , wi64_set(-3), VF32_LANES)
    TEST_STORAGE(vf32, uint16_t, _float16, vf32_set(-3.5f), VF32_LANES)
    TEST_STORAGE(vm32, uint8_t, , vm32_set(1), VF32_LANES)
    TEST_STORAGE(vm64, uint8_t, , vm64_set(1), VF64_LANES)
    TEST_STORAGE(vi32, uint8_t, _bits8, vi32_set(0xa5), VF32_LANES)
    TEST_STORAGE(vi32, uint16_t, _bits16, vi32_set(0xa5a5), VF32_LANES)
}

int main(int count, char **arguments) {
    guarded = count < 2 || strcmp(arguments[1], "unguarded") != 0;
    test_floats();
    test_integers();
    test_conversions();
    test_masks();
    test_shuffles();
    test_reductions();
    test_memory();
    test_gather();
    printf("%s: %ld checks, %ld failed\n", SIMD_NAME, checks, failures);
    return failures != 0;
}
