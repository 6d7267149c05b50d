/* The position in a sorted row at which to insert each element (search.h). */
#pragma once

#include "sort/search.h"

SEARCH(searchsorted)
