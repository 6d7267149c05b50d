#pragma once

#include "ops/silu.h"

INLINE vf32 op_swiglu_float32(vf32 gate, vf32 up) { return op_silu_float32(gate) * up; }
