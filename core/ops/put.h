/* Writes target[index[i]] = values[i] along one axis (gather.h). */
#pragma once

#include "gather.h"

GATHER(put, 8, 2)
GATHER(put, 16, 2)
GATHER(put, 32, 2)
GATHER(put, 64, 2)
