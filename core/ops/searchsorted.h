/* How many elements of a sorted row come before each element. */
#ifndef LANEWISE_OPS_SEARCHSORTED_H
#define LANEWISE_OPS_SEARCHSORTED_H

#include "search.h"

SEARCH(searchsorted, int32)
SEARCH(searchsorted, float32)

#endif
