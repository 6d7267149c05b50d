/* Reads descriptions of processors from standard input, one per line, and prints what native/system/cpu.c detects on
 * each. All numbers are hexadecimal.
 *
 *     processor           prints the features (LW_CPU_* bits). An input line has the highest leaf of CPUID, ECX of
 *                         leaf 1, EBX of leaf 7, and XCR0.
 *     processor caches    prints the sizes in bytes of the largest cache and of L2. An input line has the highest
 *                         leaf, the highest extended leaf, EAX, EBX and ECX of three subleaves of leaf 4, and the same
 *                         registers of three subleaves of leaf 0x8000001d. */
#define LW_DESCRIBED_CPU
#include "system/cpu.c"

#include <stdio.h>

enum { PARTS = 3 };
typedef unsigned cache_leaf[PARTS][3];

static unsigned highest, highest_extended, leaf_1_c, leaf_7_b, xcr0;
static cache_leaf leaf_4, leaf_extended;

static leaf part_of(const cache_leaf parts, uint32_t part) {
    leaf none = {0};
    return part < PARTS ? (leaf){.a = parts[part][0], .b = parts[part][1], .c = parts[part][2]} : none;
}

static leaf cpuid_part(uint32_t number, uint32_t part) {
    leaf described = {.a = number == 0 ? highest : number == 0x80000000 ? highest_extended : 0};
    if (number == 1) {
        described.c = leaf_1_c;
    }
    if (number > (number >> 31 ? highest_extended | 0x80000000 : highest)) { /* CPUID has no such leaf */
        described.a = described.b = described.d = UINT32_MAX;
        described.c = INT32_MAX; /* UINT32_MAX would describe a cache of 2^64 bytes, which overflows to 0 */
    } else if (number == 7 && part == 0) {
        described.b = leaf_7_b;
    } else if (number == 4) {
        described = part_of(leaf_4, part);
    } else if (number == 0x8000001d) {
        described = part_of(leaf_extended, part);
    }
    return described;
}

static uint32_t saved_state(void) { return xcr0; }

static int read_caches(cache_leaf parts) {
    int count = 0;
    for (int i = 0; i < PARTS; i++) {
        count += scanf("%x %x %x", &parts[i][0], &parts[i][1], &parts[i][2]);
    }
    return count == 3 * PARTS;
}

int main(int count, char **words) {
    (void)words;
    if (count > 1) {
        while (scanf("%x %x", &highest, &highest_extended) == 2 && read_caches(leaf_4) && read_caches(leaf_extended)) {
            printf("%zx %zx\n", lw_cpu_cache_bytes(), lw_cpu_l2_bytes());
        }
        return 0;
    }
    while (scanf("%x %x %x %x", &highest, &leaf_1_c, &leaf_7_b, &xcr0) == 4) {
        printf("%llx\n", (unsigned long long)lw_cpu_features());
    }
    return 0;
}
