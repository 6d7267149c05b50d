"""The model of avg_pool2d, from the comments of core/pool.h and core/ops/avg_pool2d.h.

1. The rows of a window that are inside the image are added, from the first to the last.
2. The columns of this sum, with 0 for columns of padding, are added from the first to the last. A window of more than
   256 columns is cut into parts of 256; the parts are added in order.
3. The sum is divided once, by the number of elements of the window; without count_include_pad, of those in the image.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np

from tests.models.tree import Array

PART = 256


def avg_pool2d(
    x: Array,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    count_include_pad: bool = True,
) -> Array:
    """Returns the mean of each window of images (N, C, H, W) or of one image (C, H, W)."""
    height, width = _pair(kernel_size)
    down, right = _pair(kernel_size if stride is None else stride)
    top, left = _pair(padding)
    images = x if x.ndim == 4 else x[None]
    rows_out = (images.shape[2] + 2 * top - height) // down + 1
    columns_out = (images.shape[3] + 2 * left - width) // right + 1

    # -0 is the identity of addition, so rows of padding change nothing.
    padded = np.pad(images, ((0, 0), (0, 0), (top, top), (0, 0)), constant_values=-0.0)
    rows = _added(padded[:, :, p:][:, :, ::down][:, :, :rows_out] for p in range(height))
    rows = np.pad(rows, ((0, 0), (0, 0), (0, 0), (left, left)))
    parts = (range(start, min(start + PART, width)) for start in range(0, width, PART))
    sums = _added(_added(rows[..., q:][..., ::right][..., :columns_out] for q in part) for part in parts)

    if count_include_pad or top == left == 0:
        result = sums / np.float32(height * width)
    else:
        tall = _inside(rows_out, down, top, height, images.shape[2])
        wide = _inside(columns_out, right, left, width, images.shape[3])
        result = sums / (tall[:, None] * wide)
    return result if x.ndim == 4 else result[0]


def _added(arrays: Iterable[Array]) -> Array:
    return functools.reduce(np.add, arrays)


def _inside(count: int, step: int, padding: int, size: int, extent: int) -> Array:
    """Returns how many rows, or columns, of each window are inside the image."""
    rows = np.arange(count)[:, None] * step - padding + np.arange(size)
    return ((rows >= 0) & (rows < extent)).sum(axis=1).astype("f4")


def _pair(value: int | Sequence[int]) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


MODELS = {"avg_pool2d": avg_pool2d}
