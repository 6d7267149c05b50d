#pragma once

#include "ops/gelu.h"

INLINE vf32 op_geglu_float32(vf32 gate, vf32 up) { return op_gelu_float32(gate) * up; }
INLINE vf32 op_geglu_tanh_float32(vf32 gate, vf32 up) { return op_gelu_tanh_float32(gate) * up; }
