/* The positions of each row's elements, in the elements' order. */
#ifndef LANEWISE_OPS_ARGSORT_H
#define LANEWISE_OPS_ARGSORT_H

#include "sorting.h"

SORT(argsort, 1)

#endif
