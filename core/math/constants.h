/* Constants that need the same bits in several files. A file that splits a constant in its own way defines the parts
 * itself, named for the number of bits of the leading part (LN2_HI_9BIT in exp.h, LN2_HI_15BIT in log.h). */
#pragma once

#define LOG2_E_F32 0x1.715476p0f
#define LOG2_E_F64 0x1.71547652b82fep0
#define LN2_F32 0x1.62e43p-1f
#define LN2_F64 0x1.62e42fefa39efp-1
#define LN2_LO_F64 0x1.abc9e3b39803fp-56 /* ln 2 - LN2_F64 */

/* ln 2 in two parts. An integer of up to 11 bits, such as a double's exponent, times the first is exact. */
#define LN2_HI_42BIT_F64 0x1.62e42fefa3800p-1
#define LN2_LO_42BIT_F64 0x1.ef35793c76730p-45

/* pi/2 = PI_2_HI + PI_2_LO: the nearest float, and the remainder. */
#define PI_2_HI_F32 0x1.921fb6p0f
#define PI_2_LO_F32 (-0x1.777a5cp-25f)
#define PI_2_HI_F64 0x1.921fb54442d18p0
#define PI_2_LO_F64 0x1.1a62633145c07p-54

#define SQRT_HALF_BITS_F64 0x3fe6a09e667f3bcd
