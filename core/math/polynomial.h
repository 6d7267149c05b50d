/* Polynomials of vectors. */
#pragma once

#include "element.h"

/* Horner's rule, from the highest of `count` coefficients on. */
INLINE vec polynomial(vec x, const element *coefficients, int count) {
    vec sum = v_set(coefficients[0]);
#pragma GCC unroll 32
    for (int i = 1; i < count; i++) {
        sum = v_fma(sum, x, v_set(coefficients[i]));
    }
    return sum;
}

#define POLYNOMIAL(x, coefficients) polynomial(x, coefficients, (int)(sizeof(coefficients) / sizeof *(coefficients)))
