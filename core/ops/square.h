#pragma once

#include "element.h"

INLINE vec op_square(vec x) { return x * x; }
