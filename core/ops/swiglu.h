#pragma once

#include "ops/silu.h"

INLINE vf32 op_swiglu(vf32 gate, vf32 up) { return op_silu(gate) * up; }
