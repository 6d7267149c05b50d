/* What this processor can do, of what the kernel libraries may need. */
#ifndef LANEWISE_CPU_H
#define LANEWISE_CPU_H

#include <stdint.h>

/* The LW_CPU_* bits of lanewise.h that the processor has and the operating system lets programs use. */
uint64_t lw_cpu_features(void);

#endif
