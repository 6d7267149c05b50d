/* The eigenvalues of symmetric matrices (eigen.h). */
#pragma once

#include "eigen.h"

ELEMENT_KERNEL(eigvalsh) { return eigen_of_symmetric(context, layout, inputs[0], outputs[0], NULL); }
