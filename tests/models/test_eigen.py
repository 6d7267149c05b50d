"""Tests eigh and eigvalsh against their model."""

import numpy as np
import pytest
from generator.draw import generator

from tests.models.comparison import agree, drawn


def both(x):
    agree("eigh", x)
    agree("eigvalsh", x)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 15, 16, 17, 33, 64])
def test_sizes(size):
    both(drawn("eigh", (3, size, size))[0])


def test_a_matrix_that_takes_several_tasks():
    """eigen_rows() of core/eigen.h gives a task at most 241 rows of this matrix, which has 272."""
    agree("eigh", drawn("eigh", (272, 272))[0])


def test_batches_and_memory_layouts():
    x = drawn("eigh", (40, 3, 9, 11))[0]
    both(x[..., :9])
    both(x[:3, ::-1, ::-1, 1:10].transpose(0, 1, 3, 2))
    both(x[:2, :, ::2, :9:2])


def test_special_matrices():
    random = generator("models", "eigh")
    orthogonal = np.linalg.qr(random.standard_normal((24, 24)))[0]
    clusters = (orthogonal * np.repeat([1.0, 1 + 1e-7, -2.0], 8)) @ orthogonal.T
    graded = (orthogonal * 10.0 ** -np.arange(24)) @ orthogonal.T
    ties = np.diag(np.abs(np.arange(-12, 12)) * 1.0) + np.eye(24, k=1) + np.eye(24, k=-1)
    sparse = np.diag(np.arange(24) % 5) + np.eye(24, k=-7) + np.eye(24, k=7)
    some = [clusters, graded, ties, sparse, np.zeros((24, 24)), np.eye(24), np.ones((24, 24)), -np.eye(24)[::-1]]
    both(np.stack(some).astype("f4"))
    both(np.stack([1e38 * some[0], 1e-38 * some[0], 1e-45 * np.ones((24, 24))]).astype("f4"))
    both(np.stack(some))
    both(np.stack([1e300 * some[0], 1e-300 * some[0], 1e-320 * np.ones((24, 24))]))
    for value in (np.nan, np.inf):
        x = np.stack([np.eye(5), np.eye(5), 2 * np.eye(5)]).astype("f4")
        x[1, 3, 2] = value
        x[2, 1, 4] = value  # above the diagonal, where nothing is read
        both(x)
