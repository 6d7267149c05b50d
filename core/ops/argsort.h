/* The positions of each row's elements, in the elements' order. */
#pragma once

#include "sorting.h"

SORT(argsort, 1)
