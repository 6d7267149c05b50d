"""Tests reading and writing elements at indices, of drawn shapes and layouts: which of several values for an element
stays, and what happens to indices out of range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from judge import bits

import lanewise as lw

DRAWS = range(60)
FORMS = {  # of indices that are known on the host
    "list": lambda indices: indices.tolist(),
    "int32": lambda indices: indices,
    "strided int64": lambda indices: np.repeat(indices, 2, axis=-1).astype(np.int64)[..., ::2],
    "tensor": lw.asarray,
}
CALLS = {
    "take": lambda x, indices, axis: lw.take(x, indices, axis=axis),
    "take_along_axis": lambda x, indices, axis: lw.take_along_axis(x, indices, axis),
    "embedding": lambda x, indices, axis: lw.embedding(indices, lw.moveaxis(x, axis, 0)),
    "getitem": lambda x, indices, axis: x[at(axis, indices)],
    "setitem": lambda x, indices, axis: x.__setitem__(at(axis, indices), 7),
}
EVERY_CALL = pytest.mark.parametrize("operation", CALLS)


def at(axis, indices):
    return (*[slice(None)] * axis, indices)


def numbers(shape, dtype, random):
    """Returns an array of different numbers, or of bools."""
    return random.random(shape) < 0.5 if dtype == "bool" else np.arange(math.prod(shape), dtype=dtype).reshape(shape)


def strided(random, shape, dtype):
    """Returns an array, and a function that makes a view of it, or of a tensor with its elements. The view has this
    shape, and a drawn order of the axes and drawn steps."""
    axes = [int(axis) for axis in random.permutation(len(shape))]
    steps = [int(step) for step in random.choice([1, 1, -1, 2, -2], len(shape))]
    base = [0] * len(shape)
    for axis, extent, step in zip(axes, shape, steps, strict=True):
        base[axis] = int(extent) * abs(step)
    parts = tuple(slice(None, None, step) for step in steps)

    def view(x):
        return (x.transpose if isinstance(x, np.ndarray) else x.permute_dims)(axes)[parts]

    return numbers(base, dtype, random), view


@pytest.mark.contracts(lambda contract: contract.operation == "put")
def test_the_last_of_several_values_stays(contract, backend):
    """The indices repeat and have up to three dimensions; they, the values and the elements are strided, and the values
    broadcast."""
    for seed in DRAWS:
        random = np.random.default_rng(seed)
        dtype = contract.computed[seed % len(contract.computed)]
        shape = random.integers(1, 6, random.integers(1, 4))
        axis = int(random.integers(len(shape)))
        places, indices_of = strided(random, random.integers(1, 5, random.integers(1, 4)), "int32")
        places[...] = random.integers(-shape[axis], shape[axis], places.shape)
        indices = indices_of(places)
        full = (*shape[:axis], *indices.shape, *shape[axis + 1 :])
        values, values_of = strided(random, np.where(random.random(len(full)) < 0.7, full, 1), dtype)
        base, elements_of = strided(random, shape, dtype)
        tensor = lw.asarray(base.copy())
        elements_of(tensor)[at(axis, indices_of(lw.asarray(places)))] = values_of(lw.asarray(values))
        given = np.broadcast_to(values_of(values), full)
        for place in np.ndindex(indices.shape):
            elements_of(base)[at(axis, indices[place])] = given[(*[slice(None)] * axis, *place)]
        assert np.array_equal(bits(np.asarray(tensor)), bits(base)), f"seed {seed}"


def drawn(seed, operation, smallest):
    """Returns an array, indices of which some may be out of range, and the axis that they index. Extents are at least
    `smallest`. For take_along_axis, the indices broadcast along the other axes, and there is at least one."""
    random = np.random.default_rng(seed)
    x = numbers(random.integers(smallest, 4, random.integers(1, 4)), "float32", random)
    axis = int(random.integers(x.ndim))
    along = operation == "take_along_axis"
    indices = random.integers(-4, 4, random.integers(smallest or along, 4, random.integers(1, 3))).astype(np.int32)
    if along:
        indices = np.moveaxis(indices.reshape((-1, *[1] * (x.ndim - 1))), 0, axis)
    return x, indices, axis


def refuses(call):
    """Returns whether a call raises an error because of an index."""
    try:
        call()
    except IndexError:
        return True
    return False


@EVERY_CALL
@pytest.mark.parametrize("form", FORMS)
def test_indices_known_on_the_host_are_checked(operation, form, backend):
    """As by NumPy: on a GPU, too, and where nothing is read or written because another extent is 0."""
    for seed in DRAWS:
        x, indices, axis = drawn(seed, operation, 0)
        with lw.use_backend("auto"):
            given = FORMS[form](indices)
        expected = refuses(lambda: x[at(axis, indices.ravel())])  # noqa: B023
        got = refuses(lambda: CALLS[operation](lw.asarray(x.copy()), given, axis))  # noqa: B023
        assert got == expected, f"{x.shape}, axis {axis}: {indices.tolist()}"


@EVERY_CALL
def test_indices_on_a_gpu(operation, gpu):
    """Those out of range read the nearest element, and write none."""
    for seed in DRAWS:
        x, indices, axis = drawn(seed, operation, 1)
        known = np.where(indices < 0, indices + x.shape[axis], indices)
        tensor = lw.asarray(x.copy())
        result = CALLS[operation](tensor, lw.asarray(indices), axis)
        nearest = np.clip(known, 0, x.shape[axis] - 1)
        if operation == "setitem":
            x[at(axis, nearest[nearest == known])] = 7
        elif operation == "embedding":
            x = np.moveaxis(x, axis, 0)[nearest]
        else:
            x = np.take(x, nearest.ravel() if operation == "take_along_axis" else nearest, axis)
        np.testing.assert_array_equal(np.asarray(tensor if result is None else result), x)
