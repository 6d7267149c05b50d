/* Whether both operands are nonzero. NaN is nonzero. */
#pragma once

#include "compare.h"

LOGICAL(logical_and, vm32_and)
