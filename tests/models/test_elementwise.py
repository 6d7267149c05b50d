"""Tests elementwise operations that are rounded more than once against their models."""

import itertools

import numpy as np
import pytest
from generator.draw import everywhere

from tests.models.comparison import SPECIAL, agree, drawn
from tests.models.elementwise import MODELS

SIZES = [(0,), (1,), (7,), (63,), (64,), (65,), (1000,), (4097,), (300_001,)]


@pytest.mark.parametrize("operation", MODELS)
class TestElementwise:
    def test_sizes(self, operation):
        for shape in SIZES:
            agree(operation, *drawn(operation, shape))

    def test_memory_layouts(self, operation):
        x = drawn(operation, (20, 30, 41))
        for view in (np.s_[::2, ::-1, ::3], np.s_[:, :1], np.s_[..., 5]):
            agree(operation, *[each[view] for each in x])
            agree(operation, *[each[view].T for each in x])
        for views in itertools.permutations((np.s_[:], np.s_[:1], np.s_[:, :1]), len(x)):
            agree(operation, *[each[view] for each, view in zip(x, views, strict=True)])

    def test_every_magnitude(self, operation):
        agree(
            operation,
            *[everywhere("float32", 100_000, operation, each)[:99_000] for each in range(len(drawn(operation, ())))],
        )

    def test_special_values(self, operation):
        """All combinations of special values, values at which an operation switches formulas, and their neighbors."""
        changes = np.array([3, -3, 0.5, 1, 2**25], "f4")
        edges = [np.nextafter(changes, np.float32(toward)) for toward in (-np.inf, np.inf)]
        values = np.concatenate([SPECIAL, changes, *edges])
        count = len(drawn(operation, ()))
        agree(operation, *[grid.reshape(-1).copy() for grid in np.meshgrid(*[values] * count)])
