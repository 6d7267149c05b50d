#pragma once

#include "ops/gelu.h"

INLINE vec op_geglu(vec gate, vec up) { return op_gelu(gate) * up; }
INLINE vec op_geglu_tanh(vec gate, vec up) { return op_gelu_tanh(gate) * up; }
