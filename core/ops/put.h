/* Writes target[index[i]] = values[i] along one axis (gather.h). */
#pragma once

#include "gather.h"

PUT(8)
PUT(16)
PUT(32)
PUT(64)
