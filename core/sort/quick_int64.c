#define LW_ELEMENT_INT64
#include "sort/quick_keys.h"
