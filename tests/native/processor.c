/* Prints the features that native/cpu.c detects on the processors that standard input describes. Each line has the
 * highest leaf of CPUID, ECX of leaf 1, EBX of leaf 7, and XCR0, in hexadecimal. */
#define LW_DESCRIBED_CPU
#include "cpu.c"

#include <stdio.h>

static unsigned highest, leaf_1_c, leaf_7_b, xcr0;

static leaf cpuid_part(uint32_t number, uint32_t part) {
    leaf described = {.a = number == 0 ? highest : 0};
    if (number == 1) {
        described.c = leaf_1_c;
    }
    if (number > highest) { /* CPUID does not define these leaves */
        described.a = described.b = described.c = described.d = UINT32_MAX;
    } else if (number == 7 && part == 0) {
        described.b = leaf_7_b;
    }
    return described;
}

static uint64_t saved_state(void) { return xcr0; }

int main(void) {
    while (scanf("%x %x %x %x", &highest, &leaf_1_c, &leaf_7_b, &xcr0) == 4) {
        printf("%llx\n", (unsigned long long)lw_cpu_features());
    }
    return 0;
}
