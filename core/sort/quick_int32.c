#define LW_ELEMENT_INT32
#include "sort/quick_keys.h"
