"""Tests eigendecomposition: matrices known to be hard, and the same bits on every instruction set."""

import pickle

import numpy as np
import pytest
from generator import constants
from judge import bits
from tested import HOSTS

import lanewise as lw

RANDOM = np.random.default_rng(11)


def symmetric(values):
    """Returns a symmetric matrix with these eigenvalues."""
    q = np.linalg.qr(RANDOM.standard_normal((len(values), len(values))))[0]
    return (q * np.asarray(values)) @ q.T


HARD = {
    "zeros": np.zeros((9, 9)),
    "identity": np.eye(40),
    "one row": np.eye(1, 30) + np.eye(1, 30).T,
    "rank one": np.outer(np.arange(33), np.arange(33)),
    "ones": np.ones((64, 64)),
    "pairs of equal eigenvalues": symmetric(np.repeat(np.arange(20), 2)),
    "two clusters": symmetric([1.0] * 50 + [1.000001] * 50),
    "graded": symmetric(10.0 ** -np.arange(30)),
    "Wilkinson's": np.diag(np.abs(np.arange(-20, 21)) * 1.0) + np.eye(41, k=1) + np.eye(41, k=-1),
    "tridiagonal": 2 * np.eye(100) - np.eye(100, k=1) - np.eye(100, k=-1),
    "zero diagonal": np.eye(50)[::-1],
    "large": symmetric(np.linspace(-1e38, 1e38, 20)),
    "denormal": symmetric(np.linspace(-1, 1, 20)) * 1e-40,
    "more rows than one task rotates": symmetric(np.linspace(-1, 1, 320)),
    "Hilbert's": 1 / (np.arange(20)[:, None] + np.arange(20) + 1),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_matrices(name, backend):
    x = HARD[name].astype("float32")
    values, vectors = (np.asarray(each, dtype="float64") for each in lw.eigh(x))
    allowed = max(1e-7 * float(np.abs(x).max()) * len(x), 1.5e-45)
    assert (np.diff(values) >= 0).all()
    assert np.abs(vectors.T @ vectors - np.eye(len(x))).max() < 1e-6
    assert np.abs((vectors * values) @ vectors.T - x).max() <= allowed
    assert np.abs(values - np.linalg.eigvalsh(x.astype("float64"))).max() <= allowed
    assert np.array_equal(values, np.asarray(lw.eigvalsh(x)))


@pytest.mark.parametrize("size", [5, 64, 300])
def test_same_bits_on_every_instruction_set(size):
    x = RANDOM.standard_normal((size, size)).astype("float32")
    results = []
    for backend in HOSTS:
        with lw.use_backend(backend):
            results.append([bits(np.asarray(each)) for each in lw.eigh(x)])
    for values, vectors in results:
        assert np.array_equal(values, results[0][0])
        assert np.array_equal(vectors, results[0][1])


def test_sweeps_in_several_tasks():
    """The matrix is so large that a sweep rotates more than EIGEN_SWEEP elements, so kernels split it into tasks."""
    size = int(constants.largest("EIGEN_SWEEP") ** 0.5) + constants.largest("EIGEN_GROUP")
    x = np.diag(RANDOM.standard_normal(size)) + np.eye(size, k=1) + np.eye(size, k=-1)
    values, vectors = (np.asarray(each, dtype="float64") for each in lw.eigh(x.astype("float32")))
    assert np.abs(vectors.T @ vectors - np.eye(size)).max() < 1e-6
    assert np.abs((vectors * values) @ vectors.T - x).max() < 1e-6


def test_views_and_batches(backend):
    """Inputs may have any strides, and only the lower triangle is read."""
    base = RANDOM.standard_normal((6, 3, 7, 9)).astype("float32")
    x = base.transpose(1, 0, 3, 2)[::-1, ::2, 1:8, ::-1]
    values, vectors = lw.eigh(x)
    assert values.shape == (3, 3, 7)
    assert vectors.shape == (3, 3, 7, 7)
    for index in np.ndindex(3, 3):
        alone = lw.eigh(np.tril(x[index]))
        assert np.array_equal(bits(np.asarray(values)[index]), bits(np.asarray(alone.eigenvalues)))
        assert np.array_equal(bits(np.asarray(vectors)[index]), bits(np.asarray(alone.eigenvectors)))


def test_nan_stays_in_its_matrix(backend):
    x = np.stack([np.eye(3), np.full((3, 3), np.nan), 2 * np.eye(3)]).astype("float32")
    values, vectors = (np.asarray(each) for each in lw.eigh(x))
    assert np.isnan(values[1]).all()
    assert np.isnan(vectors[1]).all()
    assert values[[0, 2]].tolist() == [[1, 1, 1], [2, 2, 2]]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (3, 0, 0)])
def test_empty(shape):
    result = lw.eigh(np.zeros(shape, "float32"))
    assert result.eigenvalues.shape == shape[:-1]
    assert result.eigenvectors.shape == shape


def test_result_is_a_picklable_named_tuple():
    result = pickle.loads(pickle.dumps(lw.eigh([[2.0]])))
    assert type(result).__name__ == "EighResult"
    assert (result.eigenvalues.tolist(), result[1].tolist()) == ([2.0], [[1.0]])
