/* The indices that sort each row. */
#pragma once

#include "sorting.h"

SORT(argsort, 1)
