/* Constants that need the same bits in several files. A file that splits a constant in its own way defines the parts
 * itself, named for the number of bits of the leading part (LN2_HI_9BIT in exp.h, LN2_HI_15BIT in log.h). */
#pragma once

#define LOG2_E 0x1.715476p0f
#define LN2 0x1.62e43p-1f
#define LN2_F64 0x1.62e42fefa39efp-1

/* pi/2 = PI_2_HI + PI_2_LO: the nearest float32, and the remainder. */
#define PI_2_HI 0x1.921fb6p0f
#define PI_2_LO (-0x1.777a5cp-25f)

#define FLOAT32_MIN_NORMAL 0x1p-126f
