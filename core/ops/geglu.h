#pragma once

#include "ops/gelu.h"

INLINE vf32 op_geglu(vf32 gate, vf32 up) { return op_gelu(gate) * up; }
INLINE vf32 op_geglu_tanh(vf32 gate, vf32 up) { return op_gelu_tanh(gate) * up; }
