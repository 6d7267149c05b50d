/* Tests the primitives of core/simd that every dtype has against the C library or plain C, lane by lane. Compiled for
 * one instruction set and one dtype (LW_ELEMENT_...); test_vocabulary.py runs it on all of them. Exits with 0 if every
 * check passes.
 *     vocabulary                 on Linux, an inaccessible page follows the memory that partial loads read
 *     vocabulary unguarded       without that page, for emulators that read more than a load asks for */
#include "lanewise.h"

#include "lanes.h"

#if IS_FLOATING
#include <tgmath.h>

static element random_element(void) { return ELEMENT_SIZE == 4 ? (element)random_float() : (element)random_double(); }
#else
#ifdef IS_64BIT
typedef uint64_t wrapped;
#else
typedef uint32_t wrapped;
#endif

static element random_element(void) {
    int64_t bits = (int64_t)((uint64_t)random_bits() << 32 | random_bits());
    switch (random_bits() % 4) {
    case 0:
        return (element)special_integers[(uint64_t)bits % INTEGERS];
    case 1:
        return (element)((bits & 1 ? BITS_MAX : BITS_MIN) + (bits & 2 ? 1 - (bits & 1) * 2 : 0));
    default:
        return (element)bits;
    }
}
#endif

static numbers random_numbers(void) {
    numbers n;
    for (int i = 0; i < LANES; i++) {
        n.x[i] = random_element();
        n.y[i] = random_element();
        n.z[i] = random_element();
    }
    n.a = v_load(n.x);
    n.b = v_load(n.y);
    n.c = v_load(n.z);
    return n;
}

static void test_comparisons(void) {
    for (int round = 0; round < 100000 / LANES; round++) {
        numbers n = random_numbers();
        EACH(i) n.y[i] = random_bits() % 4 ? n.y[i] : n.x[i];
        n.b = v_load(n.y);
        CHECK(v_from_bits(v_bits(n.a)), n.x[i]);
        CHECK(v_select(v_lt(n.a, n.b), n.b, n.c), n.x[i] < n.y[i] ? n.y[i] : n.z[i]);
        CHECK_MASK(v_eq(n.a, n.b), n.x[i] == n.y[i]);
        CHECK_MASK(v_ne(n.a, n.b), n.x[i] != n.y[i]);
        CHECK_MASK(v_lt(n.a, n.b), n.x[i] < n.y[i]);
        CHECK_MASK(v_le(n.a, n.b), n.x[i] <= n.y[i]);
        CHECK_MASK(v_gt(n.a, n.b), n.x[i] > n.y[i]);
        CHECK_MASK(v_ge(n.a, n.b), n.x[i] >= n.y[i]);
        CHECK_MASK(v_is_nonzero(n.a), n.x[i] != 0);
        vmask p = v_lt(n.a, n.b), q = v_lt(n.c, v_set(0));
        CHECK_MASK(m_and(p, q), n.x[i] < n.y[i] && n.z[i] < 0);
        CHECK_MASK(m_or(p, m_not(q)), n.x[i] < n.y[i] || !(n.z[i] < 0));
        CHECK_MASK(m_xor(p, q), (n.x[i] < n.y[i]) != (n.z[i] < 0));
        CHECK_MASK(M(eq)(p, q), (n.x[i] < n.y[i]) == (n.z[i] < 0));
        CHECK_MASK(M(ne)(p, q), (n.x[i] < n.y[i]) != (n.z[i] < 0));
        CHECK_MASK(M(lt)(p, q), (n.x[i] < n.y[i]) < (n.z[i] < 0));
        CHECK_MASK(M(le)(p, q), (n.x[i] < n.y[i]) <= (n.z[i] < 0));
        CHECK_MASK(M(gt)(p, q), (n.x[i] < n.y[i]) > (n.z[i] < 0));
        CHECK_MASK(M(ge)(p, q), (n.x[i] < n.y[i]) >= (n.z[i] < 0));
        CHECK_MASK(M(minimum)(p, q), n.x[i] < n.y[i] && n.z[i] < 0);
        CHECK_MASK(M(maximum)(p, q), n.x[i] < n.y[i] || n.z[i] < 0);
        vbits ones = m_to_bits(p);
        EACH(i) expect(ones[i] == (n.x[i] < n.y[i]), "m_to_bits", i, 0, 0, (double)ones[i], n.x[i] < n.y[i]);
    }
}

#if IS_FLOATING
static element minimum(element a, element b) {
    if (a != a || b != b) {
        return NAN;
    }
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static element maximum(element a, element b) {
    if (a != a || b != b) {
        return NAN;
    }
    return a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

/* x*y + z, rounded once. In some C libraries, fma gives +0 for a negative product that underflows, plus 0. */
static element fused_once(element x, element y, element z) {
    if (ELEMENT_SIZE == 4) {
        return (element)fused((float)x, (float)y, (float)z);
    }
    return z == 0 && x != 0 && y != 0 ? x * y : (element)fma((double)x, (double)y, (double)z);
}

#if SIMD_TABLES && defined IS_64BIT
static double mantissa(double x) {
    if (x == 0 || x == INFINITY) {
        return 1;
    }
    int exponent;
    double fraction = frexp(x, &exponent); /* in [1/2, 1) */
    return x < 0 ? NAN : fraction < 0.75 ? 2 * fraction : fraction;
}

static void test_tables(void) {
    element squares[16];
    for (int j = 0; j < 16; j++) {
        squares[j] = j * j;
    }
    for (int round = 0; round < 100000 / LANES; round++) {
        numbers n = random_numbers();
        CHECK(V(exponent)(n.a), logb(n.x[i]));
        CHECK(V(mantissa)(n.a), mantissa(n.x[i]));
        vbits bits = v_bits(n.a);
        CHECK(V(lookup_16)(squares, bits), (bits[i] & 15) * (bits[i] & 15));
    }
}
#endif

#if SIMD_LOOKUP && defined IS_64BIT
static void test_lookups(void) {
    static const int64_t integers[8] = {7, INT64_MIN, -1, 0, 0x0102030405060708, INT64_MAX, 1, -0x5a5a5a5a5a5a};
    static const double rows[4][2] = {{7, -1}, {0.5, 0}, {0x1p1000, -0x1p-1070}, {INFINITY, 3}};
    static const double floats[8] = {7, -1, 0.5, 0, 0x1p1000, -0x1p-1070, INFINITY, 3};
    for (int round = 0; round < 1000 / LANES; round++) {
        numbers n = random_numbers();
        vbits j = b_and(v_bits(n.a), b_set(7)), found = vi64_lookup(integers, j);
        EACH(i)
        expect(found[i] == integers[j[i]], "vi64_lookup", n.x[i], 0, 0, (double)found[i], (double)integers[j[i]]);
        CHECK(vf64_lookup(floats, j), floats[j[i]]);
        vec first, second;
        vf64_lookup_pair(rows, b_and(j, b_set(3)), &first, &second);
        CHECK(first, rows[j[i] & 3][0]);
        CHECK(second, rows[j[i] & 3][1]);
    }
}
#endif

static void test_floats(void) {
    for (int round = 0; round < 100000 / LANES; round++) {
        numbers n = random_numbers();
        CHECK(v_set(n.x[0]), n.x[0]);
        CHECK(n.a + n.b, n.x[i] + n.y[i]);
        CHECK(n.a * n.b, n.x[i] * n.y[i]);
        CHECK(n.a / n.b, n.x[i] / n.y[i]);
        CHECK(-n.a, -n.x[i]);
        CHECK(v_sqrt(n.a), sqrt(n.x[i]));
        CHECK(v_floor(n.a), floor(n.x[i]));
        CHECK(v_ceil(n.a), ceil(n.x[i]));
        CHECK(v_trunc(n.a), trunc(n.x[i]));
        CHECK(v_round(n.a), rint(n.x[i]));
        CHECK(v_abs(n.a), fabs(n.x[i]));
        CHECK(v_copysign(n.a, n.b), copysign(n.x[i], n.y[i]));
        CHECK(v_minimum(n.a, n.b), minimum(n.x[i], n.y[i]));
        CHECK(v_maximum(n.a, n.b), maximum(n.x[i], n.y[i]));
        CHECK(v_fma_strict(n.a, n.b, n.c), fused_once(n.x[i], n.y[i], n.z[i]));
        CHECK(v_add_on_fma_unit(n.a, n.b), n.x[i] + n.y[i]);
        vec either = v_fma(n.a, n.b, n.c);
        CHECK(either, same(either[i], n.x[i] * n.y[i] + n.z[i]) ? either[i] : fused_once(n.x[i], n.y[i], n.z[i]));
        char unaligned[sizeof(element) + 1];
        memcpy(unaligned + 1, n.x, sizeof(element));
        vec broadcast = v_fma(v_set(n.x[0]), n.b, n.c);
        CHECK(v_fma_broadcast((const element *)(unaligned + 1), n.b, n.c), broadcast[i]);
        CHECK(v_at_least(n.a, v_set(-2)), n.x[i] < -2 ? -2 : n.x[i]);
        CHECK(v_at_most(n.a, v_set(3)), n.x[i] > 3 ? 3 : n.x[i]);
        CHECK_MASK(v_isnan(n.a), n.x[i] != n.x[i]);
    }
}

static void test_powers_of_two(void) {
    enum { LEAST = 1 - EXPONENT_BIAS, MOST = EXPONENT_BIAS, SHIFT = 24 };
    for (int k = 2 * LEAST; k <= 2 * MOST; k++) {
        numbers n = random_numbers();
        EACH(i) n.x[i] = ldexp(1 + (element)(random_bits() >> 9) * (element)0x1p-23, (int)(random_bits() % 48) - SHIFT);
        n.a = v_load(n.x);
        vec k_magic = v_set((element)ROUND_MAGIC + (element)k), exponent = v_set((element)EXPONENT_MAGIC + (element)k);
        CHECK(v_scale(n.a, k_magic), ldexp(n.x[i], k));
        if (k >= LEAST + SHIFT && k <= MOST - SHIFT) {
            CHECK(v_scale_normal(n.a, k_magic), ldexp(n.x[i], k));
        }
        if (k >= LEAST - 1 && k <= MOST + 1) {
            CHECK(v_power_of_two(exponent), k < LEAST ? 0 : k > MOST ? INFINITY : ldexp((element)1, k));
        }
        vbits whole = b_set(((element_bits)1 << (MANTISSA_BITS - 2)) - k);
        CHECK(v_from_integers(whole), (element)(((element_bits)1 << (MANTISSA_BITS - 2)) - k));
        CHECK(v_from_integers(b_set(k)), (element)k);
    }
}
#else
static void test_integers(void) {
    enum { BITS = 8 * ELEMENT_SIZE };
    for (int round = 0; round < 20000 / LANES; round++) {
        numbers n = random_numbers();
        vec a = n.a, b = n.b;
        CHECK(a + b, (wrapped)n.x[i] + (wrapped)n.y[i]);
        CHECK(a - b, (wrapped)n.x[i] - (wrapped)n.y[i]);
        CHECK(a * b, (wrapped)n.x[i] * (wrapped)n.y[i]);
        CHECK(-a, (wrapped)0 - (wrapped)n.x[i]);
        CHECK(v_fma(a, b, n.c), (wrapped)n.x[i] * (wrapped)n.y[i] + (wrapped)n.z[i]);
        CHECK(v_fma_broadcast(n.x, b, n.c), (wrapped)n.x[0] * (wrapped)n.y[i] + (wrapped)n.z[i]);
        CHECK(v_set(n.x[0]), n.x[0]);
        CHECK(v_and(a, b), n.x[i] & n.y[i]);
        CHECK(v_or(a, b), n.x[i] | n.y[i]);
        CHECK(v_xor(a, b), n.x[i] ^ n.y[i]);
        CHECK(v_not(a), ~n.x[i]);
        CHECK(v_shift_left(a, 5), (wrapped)n.x[i] << 5);
        CHECK(v_shift_right(a, 5), n.x[i] >> 5);
        CHECK(v_shift_left_each(a, b), n.y[i] < 0 || n.y[i] >= BITS ? 0 : (wrapped)n.x[i] << n.y[i]);
        CHECK(v_shift_left_each(a, v_and(b, v_set(BITS - 1))), (wrapped)n.x[i] << (n.y[i] & (BITS - 1)));
        CHECK(v_shift_right_each(a, b), n.y[i] >= 0 && n.y[i] < BITS ? n.x[i] >> n.y[i] : n.x[i] < 0 ? -1 : 0);
        CHECK(v_shift_right_each(a, v_and(b, v_set(BITS - 1))), n.x[i] >> (n.y[i] & (BITS - 1)));
        CHECK(v_minimum(a, b), n.x[i] < n.y[i] ? n.x[i] : n.y[i]);
        CHECK(v_maximum(a, b), n.x[i] > n.y[i] ? n.x[i] : n.y[i]);
        CHECK(v_abs(a), n.x[i] < 0 ? (wrapped)0 - (wrapped)n.x[i] : (wrapped)n.x[i]);
        CHECK(b_iota(), i);
    }
}
#endif

static void test_masks(void) {
    for (int set = 0; set <= LANES; set++) {
        vmask one = b_eq(b_iota(), b_set(set)), rest = m_not(one);
        expect(m_any(one) == (set < LANES), "m_any of one", set, 0, 0, m_any(one), set < LANES);
        expect(m_all(rest) == (set == LANES), "m_all but one", set, 0, 0, m_all(rest), set == LANES);
    }
    expect(!m_any(m_set(0)) && m_all(m_set(1)), "m_set", 0, 1, 0, 0, 0);
}

static void test_shuffles(void) {
    numbers n = random_numbers();
    vec even = V(even)(n.a, n.b), odd = V(odd)(n.a, n.b);
    element both[2 * LANES];
    EACH(i) both[i] = n.x[i], both[LANES + i] = n.y[i];
    CHECK(even, both[2 * i]);
    CHECK(odd, both[2 * i + 1]);
    CHECK(V(zip_low)(even, odd), n.x[i]);
    CHECK(V(zip_high)(even, odd), n.y[i]);
    expect(same(v_first(n.a), n.x[0]) && same(v_last(n.a), n.x[LANES - 1]), "v_first, v_last", 0, 0, 0, 0, 0);
    for (int width = 1; width < LANES; width *= 2) {
        vec spread = width == 1   ? v_spread(n.a, 1)
                     : width == 2 ? v_spread(n.a, 2)
                     : width == 4 ? v_spread(n.a, 4)
                                  : v_spread(n.a, 8);
        CHECK(spread, n.x[i / (2 * width) * 2 * width + width - 1]);
        vec swapped = width == 1   ? V(swap)(n.a, 1)
                      : width == 2 ? V(swap)(n.a, 2)
                      : width == 4 ? V(swap)(n.a, 4)
                                   : V(swap)(n.a, 8);
        CHECK(swapped, n.x[i ^ width]);
        vec backwards = width == 1   ? V(swap)(n.a, 1)
                        : width == 2 ? V(swap)(n.a, 3)
                        : width == 4 ? V(swap)(n.a, 7)
                                     : V(swap)(n.a, 15);
        CHECK(backwards, n.x[i ^ (2 * width - 1)]);
    }
}

#if SIMD_PARTITION && !IS_FLOATING && !defined IS_UNSIGNED
static void test_partition(void) {
    for (int set = 0; set < 1 << LANES; set++) {
        numbers n = random_numbers();
        element moved[LANES + 1];
        element_bits chosen[LANES];
        EACH(i) chosen[i] = -(set >> i & 1);
        moved[LANES] = 1;
        int count = V(partition)(moved, moved + LANES, n.a, (vmask)b_load(chosen)), yes = 0, no = count;
        EACH(i) {
            element got = moved[set >> i & 1 ? yes++ : no++];
            expect(same(got, n.x[i]), "v_partition", set, i, 0, (double)got, (double)n.x[i]);
        }
        expect(count == yes && moved[LANES] == 1, "v_partition", set, 0, 0, count, yes);
    }
}
#endif

static void test_reductions(void) {
    for (int round = 0; round < 1000; round++) {
        numbers n = random_numbers();
        element sum[LANES];
        EACH(i) sum[i] = n.x[i];
        for (int half = LANES / 2; half; half /= 2) {
            for (int i = 0; i < half; i++) {
                sum[i] = sum[i] + sum[i + half];
            }
        }
        expect(same(v_reduce_add(n.a), sum[0]), "v_reduce_add", 0, 0, 0, (double)v_reduce_add(n.a), (double)sum[0]);
#if IS_FLOATING
        element largest[LANES];
        EACH(i) largest[i] = n.x[i];
        for (int half = LANES / 2; half; half /= 2) {
            for (int i = 0; i < half; i++) {
                largest[i] = maximum(largest[i], largest[i + half]);
            }
        }
        expect(same(v_reduce_maximum(n.a), largest[0]), "v_reduce_maximum", 0, 0, 0, (double)v_reduce_maximum(n.a),
               (double)largest[0]);
#endif
    }
}

static void test_gather(void) {
    element_bits row[3 * 50];
    for (int i = 0; i < 150; i++) {
        row[i] = 1000 * i - 7000;
    }
    for (int round = 0; round < 100; round++) {
        element_bits index[LANES];
        EACH(i) index[i] = (element_bits)(random_bits() % 50);
        for (int step = -3; step <= 3; step++) { /* step 0 gives all lanes the same element */
            const element_bits *first = step < 0 ? row + 149 : row;
            vbits got = b_gather((const char *)first, step * (int64_t)sizeof *row, b_load(index));
            EACH(i) expect(got[i] == first[step * index[i]], "b_gather", (double)index[i], step, 0, (double)got[i], 0);
        }
    }
}

static void test_memory(void) {
    TEST_MEMORY(vec, element, v_load, v_store, v_load_partial, v_store_partial, v_set(-3), LANES)
    TEST_MEMORY(vmask, uint8_t, M(load), M(store), M(load_partial), M(store_partial), m_set(1), LANES)
}

int main(int count, char **arguments) {
    guarded = count < 2 || strcmp(arguments[1], "unguarded") != 0;
    test_comparisons();
#if IS_FLOATING
    test_floats();
    test_powers_of_two();
#if SIMD_TABLES && defined IS_64BIT
    test_tables();
#endif
#if SIMD_LOOKUP && defined IS_64BIT
    test_lookups();
#endif
#else
    test_integers();
#endif
    test_masks();
    test_shuffles();
#if SIMD_PARTITION && !IS_FLOATING && !defined IS_UNSIGNED
    test_partition();
#endif
    test_reductions();
    test_memory();
    test_gather();
    printf("%s: %ld checks, %ld failed\n", SIMD_NAME, checks, failures);
    return failures != 0;
}
