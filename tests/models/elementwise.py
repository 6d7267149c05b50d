"""Models of elementwise operations that are not rounded once, from the comments of core/ops: each operation of these
expressions is one rounding to float32."""

from __future__ import annotations

import numpy as np

from tests.models.tree import Array

ONE = np.float32(1)


def hardswish(x: Array) -> Array:
    """core/ops/hardswish.h: x (x + 3) / 6 as products with the float32 nearest to 1/6; NaN stays."""
    between = x * (x + np.float32(3)) * np.float32(1 / 6)
    return np.where(x >= 3, x, np.where(x <= -3, np.float32(0), between))


def lerp(x1: Array, x2: Array, weight: Array) -> Array:
    """core/ops/lerp.h: from the nearer end."""
    difference = x2 - x1
    return np.where(weight < 0.5, x1 + weight * difference, x2 - (ONE - weight) * difference)


def rsqrt(x: Array) -> Array:
    """core/ops/rsqrt.h: root, then quotient."""
    return ONE / np.sqrt(x)


def softsign(x: Array) -> Array:
    """core/ops/softsign.h: |x| is clamped to 2^25, which keeps infinity from being divided by itself."""
    magnitude = np.minimum(np.abs(x), np.float32(2**25))
    return np.copysign(magnitude, x) / (ONE + magnitude)


MODELS = {"hardswish": hardswish, "lerp": lerp, "rsqrt": rsqrt, "softsign": softsign}
