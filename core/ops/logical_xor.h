/* Whether exactly one operand is nonzero. NaN is nonzero. */
#pragma once

#include "compare.h"

LOGICAL(logical_xor, vm32_xor)
