/* How many elements of a sorted row come before each element. */
#pragma once

#include "search.h"

SEARCH(searchsorted, int32)
SEARCH(searchsorted, float32)
