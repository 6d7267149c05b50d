#define LW_ELEMENT_FLOAT64
#define QUICK_SORT quick_sort_float64
#include "sort/quick_keys.h"
