/* Sums of two floats, high + low, with twice the bits of one. */
#pragma once

#include "element.h"

typedef struct pair {
    vec high, low;
} pair;

/* x * y - product for product = x * y rounded, exactly. |x| and |y| must be far from overflow, and the product from
 * underflow. Without FMA, by Dekker's product: "A floating-point technique for extending the available precision",
 * Numerische Mathematik 18, 1971. */
INLINE vec product_error(vec x, vec y, vec product) {
#if SIMD_FUSED
    return v_fma(x, y, -product);
#else
    const vec splitter = v_set(BY_PRECISION(4097, 134217729)); /* 2^12 + 1, 2^27 + 1 */
    vec x_scaled = x * splitter, y_scaled = y * splitter;
    vec x_high = x_scaled - (x_scaled - x), y_high = y_scaled - (y_scaled - y);
    vec x_low = x - x_high, y_low = y - y_high;
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
#endif
}

/* The product, without the low parts' product. */
INLINE pair pair_multiply(pair x, pair y) {
    vec high = x.high * y.high;
    return (pair){high, product_error(x.high, y.high, high) + (x.high * y.low + x.low * y.high)};
}

/* x + y for |x| >= |y.high|, or x = 0. */
INLINE pair pair_add(vec x, pair y) {
    vec high = x + y.high;
    return (pair){high, ((x - high) + y.high) + y.low};
}
