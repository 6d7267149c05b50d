"""Models of elementwise operations that are rounded more than once, from the comments of core/ops: the result of each
arithmetic operation is rounded to float32."""

from __future__ import annotations

import numpy as np

from tests.models.tree import Array

ONE = np.float32(1)


def hardswish(x: Array) -> Array:
    """core/ops/hardswish.h: x (x + 3) times the float32 nearest to 1/6, for x between -3 and 3; NaN stays NaN."""
    between = x * (x + np.float32(3)) * np.float32(1 / 6)
    return np.where(x >= 3, x, np.where(x <= -3, np.float32(0), between))


def lerp(x1: Array, x2: Array, weight: Array) -> Array:
    """core/ops/lerp.h: computed from x1 if the weight is below 1/2, else from x2."""
    difference = x2 - x1
    return np.where(weight < 0.5, x1 + weight * difference, x2 - (ONE - weight) * difference)


def rsqrt(x: Array) -> Array:
    """core/ops/rsqrt.h: 1 divided by the rounded root."""
    return ONE / np.sqrt(x)


def softsign(x: Array) -> Array:
    """core/ops/softsign.h: |x| is clamped to 2^25, which keeps infinity from being divided by itself."""
    magnitude = np.minimum(np.abs(x), np.float32(2**25))
    return np.copysign(magnitude, x) / (ONE + magnitude)


MODELS = {"hardswish": hardswish, "lerp": lerp, "rsqrt": rsqrt, "softsign": softsign}
