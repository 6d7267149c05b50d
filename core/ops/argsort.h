/* The indices that sort each row (sorting.h). */
#pragma once

#include "sort/sorting.h"

SORT(argsort, 1)
