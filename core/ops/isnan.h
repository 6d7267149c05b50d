#pragma once

#include "element.h"

INLINE vmask op_isnan(vec x) { return v_isnan(x); }
