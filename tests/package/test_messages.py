"""Tests the whole text of error messages that contain several values, because the values could be swapped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import lanewise as lw
from lanewise import zeros

MESSAGES: dict[str, Callable[[], object]] = {
    "outer: expected two vectors, got shapes (2, 3) and (4,); use reshape(-1)": lambda: lw.outer(
        zeros((2, 3)), zeros(4)
    ),
    "matvec: expected shapes (..., m, n) and (..., n), got a matrix of shape (2, 3) and a vector of shape (4,)": (
        lambda: lw.matvec(zeros((2, 3)), zeros(4))
    ),
    "vecmat: expected shapes (..., n) and (..., n, m), got a matrix of shape (2, 3) and a vector of shape (4,)": (
        lambda: lw.vecmat(zeros(4), zeros((2, 3)))
    ),
    "matvec: expected a tensor of shape (2,) for out, got (5,)": (
        lambda: lw.matvec(zeros((2, 3)), zeros(3), out=zeros(5))
    ),
    "attention_scores: expected shapes (..., m, d) and (..., n, d), got query (2, 3) and keys (5, 4)": (
        lambda: lw.attention_scores(zeros((2, 3)), zeros((5, 4)))
    ),
    "weighted_sum: expected shapes (n,) or (..., m, n) and (..., n, d), got weights of shape (2, 3) and rows of "
    "shape (5, 4)": lambda: lw.weighted_sum(zeros((2, 3)), zeros((5, 4))),
    "cov: expected as many observations in x as in y, got 3 and 4": lambda: lw.cov(zeros((2, 3)), zeros((2, 4))),
    "cov: expected x of shape (n,), or (m, n) for several variables, got (2, 3, 4)": lambda: lw.cov(zeros((2, 3, 4))),
    "flatten: expected start_dim not after end_dim, got 2 and 1": lambda: lw.flatten(zeros((2, 3, 4)), 2, 1),
    "moveaxis: expected source and destination of equal length, got (0, 1) and 2": (
        lambda: lw.moveaxis(zeros((2, 3, 4)), (0, 1), 2)
    ),
    "split: expected sections that divide the extent 5 of axis 1, got 3; for unequal parts, give the indices to "
    "split at": lambda: lw.split(zeros((2, 5)), 3, axis=1),
    "stack: expected tensors of equal shape, got (2, 3) and (2, 4)": lambda: lw.stack([zeros((2, 3)), zeros((2, 4))]),
    "roll: expected a shift for each of 2 axes, got 3": lambda: lw.roll(zeros((2, 3)), (1, 2, 3), (0, 1)),
    "repeat: expected one int for repeats, or 3 ints, got shape (2,)": lambda: lw.repeat(zeros((2, 3)), [1, 2], axis=1),
    "repeat: expected repeats of at least 0, got -2": lambda: lw.repeat(zeros(3), [1, -2, 2]),
    "concat: expected shapes that are equal except along axis 1, got (2, 3) and (4, 5)": (
        lambda: lw.concat([zeros((2, 3)), zeros((4, 5))], axis=1)
    ),
    "topk: expected k of at most 2, the extent of axis 0, got 4": lambda: lw.topk(zeros((2, 3)), 4, axis=0),
    "pad: expected elements along axis 1 for mode 'edge', got extent 0; use 'constant'": (
        lambda: lw.pad(zeros((2, 0)), 1, mode="edge")
    ),
    "embedding: expected indices within axis 0 of extent 2, got 5": lambda: lw.embedding([5], zeros((2, 3))),
}


LATE = "embedding"  # on a device, this error is raised when the result is read, and has another text


@pytest.mark.parametrize(
    "message",
    [pytest.param(each, marks=pytest.mark.host if each.startswith(LATE) else ()) for each in MESSAGES],
    ids=lambda message: message.partition(":")[0],
)
def test_messages(message: str) -> None:
    with pytest.raises(lw.LanewiseError) as raised:
        MESSAGES[message]()
    assert str(raised.value) == message
