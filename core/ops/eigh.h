/* The eigenvalues and eigenvectors of symmetric matrices (eigen.h), as two outputs. */
#pragma once

#include "eigen.h"

ELEMENT_KERNEL(eigh) { return eigen_of_symmetric(context, layout, inputs[0], outputs[0], outputs[1]); }
