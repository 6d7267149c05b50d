/* Tests the primitives of core/simd that belong to one dtype: conversions and lookups. Compiled for one
 * instruction set; test_vocabulary.py runs it on all of them. Exits with 0 if every check passes. */
#define LW_ELEMENT_FLOAT32

#include "lanewise.h"

#include "lanes.h"

static numbers random_numbers(void) {
    numbers n;
    EACH(i) n.x[i] = random_float();
    n.a = vf32_load(n.x);
    return n;
}

static void test_scale_floor(void) {
    for (int k = -252; k <= 254; k++) {
        numbers n = random_numbers();
        EACH(i) n.x[i] = ldexpf(1.0f + (float)(random_bits() >> 9) * 0x1p-23f, (int)(random_bits() % 48) - 24);
        n.a = vf32_load(n.x);
        CHECK(vf32_scale_floor(n.a, vf32_set((float)k)), ldexpf(n.x[i], k));
        CHECK(vf32_scale_floor(n.a, vf32_set((float)k + 0.9375f)), ldexpf(n.x[i], k));
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
        CHECK_INT(vu32_shift_right(vi32_to_vu32(a), 5), (uint32_t)x[i] >> 5);
        CHECK_INT(vu32_mul_high(vi32_to_vu32(a), vi32_to_vu32(b)), ((uint64_t)(uint32_t)x[i] * (uint32_t)y[i]) >> 32);
        CHECK_INT(vu32_lookup(table, vi32_and(a, vi32_set(7))), table[x[i] & 7]);
        CHECK_INT(vf32_to_vi32(vf32_lookup_16(squares, a)), (x[i] & 15) * (x[i] & 15));
        CHECK_INT(vf32_to_vi32(vf32_lookup_32(squares, a)), (x[i] & 31) * (x[i] & 31));
        CHECK_INT(vu32_lt(vi32_to_vu32(a), vi32_to_vu32(b)), (uint32_t)x[i] < (uint32_t)y[i] ? -1 : 0);
        vf32 converted = vi32_to_vf32(a);
        wf64 wide = vi32_to_wf64(a), long_float;
        wi64 product = vi32_to_wi64(a) * vi32_to_wi64(b);
        long_float = wi64_to_wf64(product);
        vf32 rounded = wi64_to_vf32(product), unsigned_rounded = wu64_to_vf32(wi64_to_wu64(product));
        wf64 unsigned_float = wu64_to_wf64(wi64_to_wu64(product)), positive = vu32_to_wf64(vi32_to_vu32(a));
        vf32 positive_rounded = vu32_to_vf32(vi32_to_vu32(a));
        CHECK_INT(wi64_to_vi32(product), (uint32_t)x[i] * (uint32_t)y[i]);
        EACH(i) {
            int64_t exact = (int64_t)x[i] * y[i];
            uint64_t bits = (uint64_t)exact;
            uint32_t word = (uint32_t)x[i];
            expect(unsigned_float[i] == (double)bits, "wu64_to_wf64", x[i], y[i], 0, unsigned_float[i], (double)bits);
            expect(unsigned_rounded[i] == (float)bits, "wu64_to_vf32", x[i], y[i], 0, unsigned_rounded[i], (float)bits);
            expect(positive[i] == word, "vu32_to_wf64", word, 0, 0, positive[i], word);
            expect(positive_rounded[i] == (float)word, "vu32_to_vf32", word, 0, 0, positive_rounded[i], (float)word);
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

/* Returns the float of 16 bits nearest to x, in plain arithmetic. With e the exponent of x, neighboring ones differ by
 * 2^(e - fraction), or by as much as the smallest normal ones if they are denormal. */
static float nearest_half(double x, int fraction) {
    int bias = (1 << (14 - fraction)) - 1;
    double overflow = ldexp(2 - ldexp(1, -fraction - 1), bias);
    if (x != x || x == 0 || fabs(x) >= overflow) {
        return (float)(fabs(x) >= overflow ? copysign(INFINITY, x) : x);
    }
    int exponent = ilogb(x);
    double spacing = ldexp(1, (exponent < 1 - bias ? 1 - bias : exponent) - fraction);
    return (float)copysign(rint(x / spacing) * spacing, x);
}

static float decoded_half(uint16_t bits, int fraction) {
    int bias = (1 << (14 - fraction)) - 1, leading = 1 << fraction;
    int exponent = (bits & 0x7fff) >> fraction, mantissa = bits & (leading - 1);
    float size = exponent > 2 * bias ? (mantissa ? NAN : INFINITY)
                                     : ldexpf((float)(mantissa + (exponent ? leading : 0)),
                                              (exponent ? exponent : 1) - bias - fraction);
    return bits & 0x8000 ? -size : size;
}

/* Every float of 16 bits in both directions, and numbers at and beside the middle of two neighbors, but not of all. */
static void test_halves(int fraction) {
    for (uint32_t first = 0; first < 65536; first += VF32_LANES) {
        uint16_t halves[VF32_LANES], again[VF32_LANES];
        EACH(i) halves[i] = (uint16_t)(first + (uint32_t)i);
        vf32 x = vf32_load_half(halves, fraction);
        vf32_store_half(again, x, fraction);
        EACH(i) {
            float expected = decoded_half(halves[i], fraction), kept = decoded_half(again[i], fraction);
            expect(same(x[i], expected), "vf32_from_half", halves[i], fraction, 0, x[i], expected);
            int is_kept = expected != expected ? kept != kept : again[i] == halves[i];
            expect(is_kept, "vf32_to_half", halves[i], fraction, 0, again[i], halves[i]);
        }
        for (int side = -1; side <= 1 && first / VF32_LANES % 5 == 0; side++) {
            EACH(i) {
                float middle = (decoded_half(halves[i], fraction) + decoded_half(halves[i] + 1, fraction)) / 2;
                x[i] = side ? nextafterf(middle, side * INFINITY) : middle;
            }
            vf32_store_half(again, x, fraction);
            EACH(i) {
                float got = decoded_half(again[i], fraction), expected = nearest_half(x[i], fraction);
                expect(same(got, expected), "vf32_to_half", x[i], fraction, 0, got, expected);
            }
        }
    }
}

static void test_conversions(void) {
    for (int round = 0; round < 200000 / VF32_LANES; round++) {
        numbers n = random_numbers();
        vi32 whole = vf32_to_vi32(n.a);
        wf64 exact = vf32_to_wf64(n.a), wide;
        EACH(i) wide[i] = (double)n.x[i] * (1 + (double)(int32_t)random_bits() * 0x1p-52);
        EACH(i)
        if (round % 2 && fabs(wide[i]) < 1e30) {
            wide[i] = nearest_half(wide[i], 10) * (1 + 0x1p-11) * (1 + 0x1p-40);
        }
        wi64 longs = wf64_to_wi64(exact), wide_longs = wf64_to_wi64(wide);
        wu64 unsigned_longs = wf64_to_wu64(wide);
        vi32 wide_whole = wf64_to_vi32(wide);
        vf32 narrow = wf64_to_vf32(wide);
        uint16_t halves[VF32_LANES], odd_halves[VF32_LANES];
        vf32_store_half(halves, n.a, 10);
        vf32_store_half(odd_halves, wf64_to_vf32_odd(wide), 10);
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
            expect(longs[i] == expected, "wf64_to_wi64", x, 0, 0, (double)longs[i], (double)expected);
            expect(wide_longs[i] == wide_expected, "wf64_to_wi64", w, 0, 0, (double)wide_longs[i],
                   (double)wide_expected);
            uint64_t positive = w >= 0x1p64 ? UINT64_MAX : w > 0 ? (uint64_t)w : 0;
            expect(unsigned_longs[i] == positive, "wf64_to_wu64", w, 0, 0, (double)unsigned_longs[i], (double)positive);
            expect(x != x || exact[i] == x, "vf32_to_wf64", x, 0, 0, exact[i], x);
            expect(same(narrow[i], (float)w), "wf64_to_vf32", w, 0, 0, narrow[i], (float)w);
            float half = decoded_half(halves[i], 10), odd_half = decoded_half(odd_halves[i], 10);
            expect(same(half, nearest_half(x, 10)), "vf32_to_half", x, 10, 0, half, nearest_half(x, 10));
            expect(same(odd_half, nearest_half(w, 10)), "wf64_to_vf32_odd", w, 0, 0, odd_half, nearest_half(w, 10));
        }
    }
}

#define float16_load(p) vf32_load_half(p, 10)
#define float16_store(p, x) vf32_store_half(p, x, 10)
#define float16_load_partial(p, n, pad) vf32_load_partial_half(p, n, pad, 10)
#define float16_store_partial(p, x, n) vf32_store_partial_half(p, x, n, 10)

static void test_memory(void) {
    TEST_STORAGE(wf64, double, , wf64_set(-3.5), VF32_LANES);
    TEST_STORAGE(wi64, int64_t, , wi64_set(-3), VF32_LANES);
    TEST_STORAGE(wu64, uint64_t, , wu64_set(3), VF32_LANES);
    TEST_MEMORY(vf32, uint16_t, float16_load, float16_store, float16_load_partial, float16_store_partial,
                vf32_set(-3.5f), VF32_LANES);
    TEST_STORAGE(vi32, int8_t, _int8, vi32_set(-0x25), VF32_LANES);
    TEST_STORAGE(vi32, uint8_t, _uint8, vi32_set(0xa5), VF32_LANES);
    TEST_STORAGE(vi32, int16_t, _int16, vi32_set(-0x25a5), VF32_LANES);
    TEST_STORAGE(vi32, uint16_t, _uint16, vi32_set(0xa5a5), VF32_LANES);
    TEST_STORAGE(vu8, uint8_t, , vu8_set(0xa5), V8_LANES);
    TEST_STORAGE(vi16, int16_t, , vi16_set(-0x25a5), V16_LANES);
    TEST_STORAGE(vm8, uint8_t, , vi8_set(-1), V8_LANES);
    TEST_STORAGE(vm16, uint8_t, , vi16_set(-1), V16_LANES);
}

/* Lanes of 1 and 2 bytes: lane i is i, and `any` sees each of them. Halving finds the largest lane, wherever it is. */
#define TEST_LANES(type, mask, lane_count)                                                              \
    for (int set = 0; set < lane_count; set++) {                                                        \
        type lane = type##_iota(), x = type##_select(type##_eq(lane, type##_set(set)), lane, lane / 2); \
        expect(lane[set] == set, #type "_iota", set, 0, 0, lane[set], set);                             \
        expect(mask##_any(type##_eq(lane, type##_set(set))), #mask "_any", set, 0, 0, 0, 1);            \
        for (int n = lane_count / 2; n; n /= 2) {                                                       \
            x = type##_maximum(x, type##_slide_down(x, n));                                             \
        }                                                                                               \
        int largest = set > (lane_count - 1) / 2 ? set : (lane_count - 1) / 2;                          \
        expect(type##_first(x) == largest, #type "_slide_down", set, 0, 0, type##_first(x), largest);   \
    }                                                                                                   \
    expect(!mask##_any(type##_set(0)), #mask "_any", 0, 0, 0, 1, 0)

static void test_lanes(void) {
    TEST_LANES(vi8, vm8, V8_LANES);
    TEST_LANES(vi16, vm16, V16_LANES);
}

int main(int count, char **arguments) {
    guarded = count < 2 || strcmp(arguments[1], "unguarded") != 0;
    test_scale_floor();
    test_integers();
    test_conversions();
    for (int fraction = 7; fraction <= 13; fraction++) {
        test_halves(fraction);
    }
    test_memory();
    test_lanes();
    printf("%s: %ld checks, %ld failed\n", SIMD_NAME, checks, failures);
    return failures != 0;
}
