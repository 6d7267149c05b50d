#define LW_ELEMENT_FLOAT32
#define QUICK_SORT quick_sort_float32
#include "sort/quick_keys.h"
