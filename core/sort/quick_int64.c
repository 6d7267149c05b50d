#define LW_ELEMENT_INT64
#define QUICK_SORT quick_sort_int64
#include "sort/quick_keys.h"
