/* Sorts each row (sorting.h). */
#pragma once

#include "sort/sorting.h"

SORT(sort, 0)
SORT_KERNEL(sort, bool, SORT_BOOL, 0)
