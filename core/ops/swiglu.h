#pragma once

#include "ops/silu.h"

INLINE vec op_swiglu(vec gate, vec up) { return op_silu(gate) * up; }
