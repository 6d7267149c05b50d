#define LW_ELEMENT_FLOAT64
#include "sort/quick_keys.h"
