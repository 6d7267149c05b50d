#define LW_ELEMENT_FLOAT32
#include "sort/quick_keys.h"
