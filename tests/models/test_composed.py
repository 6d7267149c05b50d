"""Compares operations that call other operations, or return several tensors, bit for bit with their NumPy models."""

import numpy as np
import pytest
from generator.schema import INTEGERS

from tests.models.comparison import BY_NAME, SPECIAL, agree, drawn, planted
from tests.models.tree import BLOCK

SHAPES = [(1,), (65,), (6, 41), (41, 6), (3, BLOCK + 9), (BLOCK + 9, 3), (5, 4, 70)]
# Operations along one axis, with values of their other parameters.
ALONG_AN_AXIS = {
    "normalize": [{}, {"eps": 1e6}, {"eps": 0.0}],
    "zscore": [{}, {"correction": 1.0}, {"correction": 2.5}],
    "covariance": [{}, {"correction": 1.0}, {"correction": 9000.0}],
    "correlation": [{}],
    "add_rms_norm": [{}, {"eps": 0.5}],
}


@pytest.mark.parametrize("operation", ALONG_AN_AXIS)
class TestAlongAnAxis:
    def test_shapes(self, operation):
        for shape in SHAPES:
            for axis in range(len(shape)):
                inputs = drawn(operation, shape)[:2]
                for parameters in ALONG_AN_AXIS[operation]:
                    agree(operation, *inputs, axis=axis, **parameters)

    def test_memory_layouts(self, operation):
        inputs = drawn(operation, (12, 10, 90))[:2]
        for view in (np.s_[::2, ::-1, ::3], np.s_[::-1, :, ::-2]):
            for axis in range(3):
                agree(operation, *[x[view] for x in inputs], axis=axis)
                agree(operation, *[x[view].T for x in inputs], axis=axis)

    def test_special_values(self, operation):
        for count in (1, 5, BLOCK + 5):
            x, *others = drawn(operation, (3 * len(SPECIAL), count))[:2]
            for mixed in (planted(x, SPECIAL, 1), planted(x, SPECIAL), planted(x, SPECIAL[:2], 1)):
                agree(operation, mixed, *others)
            agree(operation, x * np.geomspace(1e-42, 3e36, len(x), dtype="f4")[:, None], *others)
            agree(operation, x + np.float32(1e6), *others)


@pytest.mark.parametrize("operation", ["covariance", "correlation"])
def test_pairs(operation):
    x1, x2 = drawn(operation, (6, 41))
    agree(operation, x1, x2[0])
    agree(operation, x1, x1)
    agree(operation, x1[:, :0], x2[:, :0])


def test_add_rms_norm_with_weight():
    for length in (41, 9000):
        x, residual, weight = (
            drawn("add_rms_norm", shape)[at] for at, shape in enumerate([(6, length), (length,), (length,)])
        )
        agree("add_rms_norm", x, residual, weight)


def test_topk():
    for dtype in BY_NAME["topk"].computed:
        for shape, axis in (((1000,), 0), ((7, 300), 1), ((300, 7), 0), ((3, 9000), 1)):
            x = drawn("topk", shape, dtype)[0]
            some = [x, x[::-1]] if dtype in INTEGERS else [x, planted(x, SPECIAL, 7)]
            for k in (0, 1, 9, shape[axis]):
                for each in some:
                    agree("topk", each, k, axis=axis)
                    agree("topk", each, k, axis=axis, largest=False)


def test_split_nonzero_and_asarray():
    for dtype in BY_NAME["split"].computed:
        x = planted(drawn("split", (6, 41, 50), dtype)[0], np.zeros(1, dtype), 3)
        for view in (x, x[::-2, ::3], x.T):
            agree("asarray", view)
            agree("nonzero", view)
            agree("nonzero", view.reshape(-1))
            for axis in range(3):
                agree("split", view, (2, 5), axis=axis)
                agree("split", view, 1, axis=axis)
    agree("nonzero", planted(drawn("nonzero", (70_001,))[0], SPECIAL, 2))
