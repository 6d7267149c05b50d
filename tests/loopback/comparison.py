"""What the tests of this folder share: tensors on the device, and a comparison of every bit."""

from __future__ import annotations

from typing import Any

import numpy as np

import lanewise as lw


def on(place: str, values: Any, dtype: Any = np.float32) -> lw.Tensor:
    """Returns a row-major tensor of these values that is committed to a backend."""
    return lw.asarray(np.array(values, dtype, order="C")).to(place)


def parts(value: Any) -> list[lw.Tensor]:
    """Returns the tensors of a result, which may be a tuple."""
    return list(value) if isinstance(value, tuple | list) else [value]


def array(tensor: lw.Tensor) -> np.ndarray:
    """Returns a copy of the elements, for which a tensor on a device is read."""
    return np.array(tensor, order="C")


def assert_same_bits(value: Any, expected: Any) -> None:
    """Compares tensors or arrays, or tuples of them: dtypes, shapes and every bit."""
    got, right = parts(value), parts(expected)
    assert len(got) == len(right)
    for one, other in zip(map(array, got), map(array, right), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes(), (one, other)
