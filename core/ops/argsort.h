/* The indices that sort each row (sorting.h). */
#pragma once

#include "sorting.h"

SORT(argsort, 1)
