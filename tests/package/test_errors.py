"""Tests the hierarchy of errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import lanewise as lw
from lanewise import errors

ERRORS = [name for name in errors.__all__ if name != "named"]


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_public_and_a_lanewise_error(name):
    error = getattr(lw, name)
    assert issubclass(error, lw.LanewiseError)
    assert error.__doc__


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (lw.ShapeError, ValueError),
        (lw.DTypeError, TypeError),
        (lw.AxisError, ValueError),
        (lw.AxisError, IndexError),
        (lw.IndexOutOfRangeError, IndexError),
        (lw.ArgumentError, ValueError),
        (lw.ArgumentTypeError, TypeError),
        (lw.ReadOnlyError, ValueError),
        (lw.OutOfMemoryError, MemoryError),
        (lw.RangeError, OverflowError),
        (lw.BackendError, RuntimeError),
        (lw.BackendUnavailableError, lw.BackendError),
        (lw.LibraryError, lw.BackendError),
        (lw.LibraryError, ImportError),
        (lw.DeviceError, lw.BackendError),
    ],
)
def test_errors_are_also_what_numpy_or_python_raise(error, builtin):
    assert issubclass(error, builtin)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_survive_pickling(name):
    error = pickle.loads(pickle.dumps(getattr(lw, name)("add: shapes differ")))
    assert type(error) is getattr(lw, name)
    assert str(error) == "add: shapes differ"
    error = pickle.loads(pickle.dumps(getattr(lw, name)("shapes differ", operation="add")))
    assert (error.operation, error.args, str(error)) == ("add", ("shapes differ",), "add: shapes differ")


def test_an_error_has_the_name_that_was_set_first():
    @errors.named("outer")
    @errors.named("inner")
    def fail(error):
        raise error

    with pytest.raises(lw.ShapeError, match=r"^inner: shapes differ$"):
        fail(lw.ShapeError("shapes differ"))
    with pytest.raises(lw.ShapeError, match=r"^add: shapes differ$"):
        fail(lw.ShapeError("shapes differ", operation="add"))
    with pytest.raises(ValueError, match=r"^of Python$"):
        fail(ValueError("of Python"))


def test_an_operation_composed_of_others_names_itself():
    with pytest.raises(lw.LanewiseError) as raised:
        lw.stack([lw.ones(2), lw.ones(3)])
    assert raised.value.operation == "stack"
    assert raised.value.args == ("expected tensors of equal shape, got (2,) and (3,)",)


def test_values_take_at_most_60_characters():
    assert errors.describe("x" * 58) == "'" + "x" * 58 + "'"
    assert errors.describe(list(range(8))) == "[0, 1, 2, 3, 4, 5, 6, 7]"
    assert errors.describe(tuple(range(9))) == "(0, 1, 2, 3, 4, 5, 6, 7, ...)"
    assert errors.describe(["x" * 54, 1]) == "['" + "x" * 54 + "'..."  # 57 characters and the dots
    assert errors.describe(["x" * 53, 1]) == "['" + "x" * 53 + "', 1]"
    assert errors.describe(np.float32(1.5)) == repr(np.float32(1.5))
