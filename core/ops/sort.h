/* Sorts each row (sorting.h). */
#pragma once

#include "sorting.h"

SORT(sort, 0)
SORT_KERNEL(sort, bool, SORT_BOOL, 0)
