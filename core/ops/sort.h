/* Sorts each row (sorting.h). */
#pragma once

#include "sort/sorting.h"

SORT(sort, 0)
