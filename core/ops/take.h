/* result[i] = x[index[i]] along one axis. */
#ifndef LANEWISE_OPS_TAKE_H
#define LANEWISE_OPS_TAKE_H

#include "gather.h"

GATHER(take, 8, 0)
GATHER(take, 16, 0)
GATHER(take, 32, 0)
GATHER(take, 64, 0)

#endif
