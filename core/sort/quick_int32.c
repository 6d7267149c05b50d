#define LW_ELEMENT_INT32
#define QUICK_SORT quick_sort_int32
#include "sort/quick_keys.h"
