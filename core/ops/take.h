/* Computes result[i] = x[index[i]] along one axis (gather.h). */
#pragma once

#include "gather.h"

TAKE(8)
TAKE(16)
TAKE(32)
TAKE(64)
