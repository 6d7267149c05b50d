"""Tests that every way to make a tensor accepts 8 dimensions, the maximum, and refuses 9."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from types import SimpleNamespace

import numpy as np
import pytest

import lanewise as lw

MAX_NDIM = 8


def ones(ndim: int) -> tuple[int, ...]:
    return (1,) * ndim


# The ways to make a tensor of n dimensions.
WAYS: dict[str, Callable[[int], lw.Tensor]] = {
    "list": lambda n: lw.asarray(reduce(lambda nested, _: [nested], range(n), 1.0)),
    "buffer": lambda n: lw.asarray(np.zeros(ones(n), np.float32)),
    "memoryview": lambda n: lw.asarray(memoryview(np.zeros(ones(n), np.float32))),
    "array interface": lambda n: lw.asarray(SimpleNamespace(__array_interface__=np.zeros(ones(n)).__array_interface__)),
    "DLPack": lambda n: lw.from_dlpack(np.zeros(ones(n), np.float32)),
    "zeros": lambda n: lw.zeros(ones(n)),
    "full": lambda n: lw.full(ones(n), 2),
    "rand": lambda n: lw.rand(ones(n)),
    "reshape": lambda n: lw.reshape(lw.zeros(1), ones(n)),
    "broadcast_to": lambda n: lw.broadcast_to(lw.zeros(1), ones(n)),
    "expand_dims": lambda n: lw.expand_dims(lw.zeros(ones(n - 1)), 0),
    "stack": lambda n: lw.stack([lw.zeros(ones(n - 1))]),
    "take": lambda n: lw.take(lw.zeros((1, 1, 1)), lw.zeros(ones(n - 2), dtype=lw.int32), axis=1),
    "None in an index": lambda n: lw.zeros((1, 1))[(None,) * (n - 2)],
    "arrays in an index": lambda n: lw.zeros((1, 1))[lw.zeros(ones(n - 1), dtype=lw.int32)],
    "tile": lambda n: lw.tile(lw.zeros(1), ones(n)),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_number_of_dimensions(way: str) -> None:
    assert WAYS[way](MAX_NDIM).shape == ones(MAX_NDIM)
    with pytest.raises(lw.ShapeError, match=f"{MAX_NDIM}|{MAX_NDIM - 1}"):
        WAYS[way](MAX_NDIM + 1)
