"""Tracebacks of errors about arguments end in the caller's frame and contain no frames of the package."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest

import lanewise as lw

X = lw.ones((2, 3))


def assign(x: lw.Tensor, key: object, value: object) -> None:
    x[key] = value


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.add(X, "text"),
        lambda: lw.concat([X, "text"]),
        lambda: lw.concat(X, axes=0),
        lambda: lw.asarray("text"),
        lambda: lw.zeros("text"),
        lambda: lw.sum(X, dims=0),
        lambda: X.sum(axis="rows"),
        lambda: X.roll("text"),
        lambda: X.astype("text"),
        lambda: X - ["text"],
        lambda: X @ [[1, 2], [3]],
        lambda: X["text"],
        lambda: X[[0.5]],
        lambda: X[[9]].tolist(),
        lambda: assign(X, [0.5], 1),
        lambda: assign(X, 0, "text"),
    ],
)
def test_errors_have_one_frame(call: Callable[[], object]):
    with pytest.raises(lw.LanewiseError) as error:
        call()
    frames = traceback.extract_tb(error.value.__traceback__)[1:]  # without the first frame, that of this test
    assert all(frame.filename == __file__ for frame in frames), frames


class Broken:
    def __array__(self, dtype: object = None, copy: object = None) -> object:
        raise RuntimeError("broken")


def test_errors_of_other_code_keep_their_frames():
    with pytest.raises(RuntimeError, match="broken") as error:
        lw.exp(Broken())
    assert traceback.extract_tb(error.value.__traceback__)[-1].name == "__array__"
