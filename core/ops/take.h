/* Computes result[i] = x[index[i]] along one axis (gather.h). */
#pragma once

#include "gather.h"

GATHER(take, 8, 0)
GATHER(take, 16, 0)
GATHER(take, 32, 0)
GATHER(take, 64, 0)
