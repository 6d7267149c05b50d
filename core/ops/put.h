/* target[index[i]] = values[i] along one axis. */
#ifndef LANEWISE_OPS_PUT_H
#define LANEWISE_OPS_PUT_H

#include "gather.h"

GATHER(put, 8, 2)
GATHER(put, 16, 2)
GATHER(put, 32, 2)
GATHER(put, 64, 2)

#endif
