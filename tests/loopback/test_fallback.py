"""Tests calls for which the device has no kernel: the CPU computes, and the results go back to the device."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext
from tests.loopback.comparison import assert_same_bits, on, parts

X = np.random.default_rng(1).normal(size=(5, 5)).astype(np.float32)


def counted(function):
    """Returns a function's result, and how many uploads and readbacks it makes."""
    before = lw.memory_stats()
    result = function()
    after = lw.memory_stats()
    return result, (after["uploads"] - before["uploads"], after["readbacks"] - before["readbacks"])


SYMMETRIC, KEYWORDS = X @ X.T, {"take": {"axis": 1}, "rand": {"seed": 1}}
# The operation -> its arguments, of which arrays are tensors on the device, and the number of its results
CALLS: dict[str, tuple[tuple[Any, ...], int]] = {
    "softmax": ((X,), 1),
    "sort": ((X,), 1),
    "sum": ((X,), 1),
    "exp": ((X,), 1),
    "matmul": ((X, X), 1),
    "take": ((X, np.array([3, 0], np.int32)), 1),
    "eigh": ((SYMMETRIC,), 2),
    "full": (((3, 4), 2.5), 1),
    "rand": (((3, 4),), 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_go_back_to_the_device(name):
    given, count = CALLS[name]
    arrays = [each for each in given if isinstance(each, np.ndarray)]
    operands = [on("wgpu", each, each.dtype) if isinstance(each, np.ndarray) else each for each in given]
    call = partial(getattr(lw, name), **KEYWORDS.get(name, {}))
    _ext.without(name)
    with lw.use_backend("wgpu"):
        result, copies = counted(lambda: call(*operands))
    assert copies == (count, len(arrays))
    assert all((each.backend, each.is_committed) == ("wgpu", True) for each in parts(result))
    assert_same_bits(result, call(*given))


def test_out_on_the_device():
    x, out = lw.asarray(X).to("wgpu"), lw.zeros((5, 5)).to("wgpu")
    view = out.T
    _ext.without("softmax")
    assert lw.softmax(x[:, ::-1], out=out) is out
    assert np.array_equal(view.numpy(), lw.softmax(lw.asarray(X)[:, ::-1]).numpy().T)
    assert lw.softmax(x, out=x) is x
    assert np.array_equal(x.numpy(), lw.softmax(lw.asarray(X)).numpy())


def test_other_operations_stay_on_the_device():
    x = lw.asarray(X).to("wgpu")
    _ext.without("softmax")
    _, copies = counted(lambda: lw.exp(x + 1) @ x)
    assert copies == (0, 0)


def test_errors_of_the_arguments_come_from_the_device_alone():
    x = lw.asarray(X).to("wgpu")
    _ext.without("softmax")

    def call_with_wrong_axis():
        with pytest.raises(lw.AxisError, match=r"^softmax: expected an axis within 2 dimensions, got 2$"):
            lw.softmax(x, axis=2)

    assert counted(call_with_wrong_axis)[1] == (0, 0)


def test_topk():
    x = lw.asarray(X).to("wgpu")
    _ext.without("argsort")
    values, indices = lw.topk(x, 2)
    assert values.backend == indices.backend == "wgpu"
    assert np.array_equal(values.numpy(), np.sort(X, axis=-1)[:, :-3:-1])


def test_a_device_has_to_have_put():
    x = lw.asarray(X).to("wgpu")
    _ext.without("put")
    with pytest.raises(lw.BackendError, match=r"^setitem: expected a device with a kernel for these dtypes, got wgpu"):
        x[[0, 2]] = 1.0
