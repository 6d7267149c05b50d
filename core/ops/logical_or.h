/* Whether at least one operand is nonzero. NaN is nonzero. */
#pragma once

#include "compare.h"

LOGICAL(logical_or, vm32_or)
