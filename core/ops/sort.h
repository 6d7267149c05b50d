/* The elements of each row in order. */
#ifndef LANEWISE_OPS_SORT_H
#define LANEWISE_OPS_SORT_H

#include "sorting.h"

SORT(sort, 0)
SORT_KERNEL(sort, bool, SORT_BOOL, 0)

#endif
