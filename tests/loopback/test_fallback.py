"""Tests calls for which the device has no kernel: the CPU computes, and the results go back to the device."""

from __future__ import annotations

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext

X = np.random.default_rng(1).normal(size=(5, 5)).astype(np.float32)


def counted(function):
    """Returns a function's result, and how many uploads and readbacks it makes."""
    before = lw.memory_stats()
    result = function()
    after = lw.memory_stats()
    return result, (after["uploads"] - before["uploads"], after["readbacks"] - before["readbacks"])


@pytest.mark.parametrize("name", ["softmax", "sort", "sum", "exp", "matmul"])
def test_results_go_back_to_the_device(name):
    x = lw.asarray(X).to("wgpu")
    arguments = (x, x) if name == "matmul" else (x,)
    _ext.without(name)
    result, copies = counted(lambda: getattr(lw, name)(*arguments))
    assert copies == (1, len(arguments))
    assert result.backend == "wgpu" and result.is_committed
    expected = getattr(lw, name)(*(lw.asarray(X) for _ in arguments))
    assert np.array_equal(result.numpy(), expected.numpy())


def test_two_results():
    x = lw.asarray(X @ X.T).to("wgpu")
    _ext.without("eigh")
    result, copies = counted(lambda: lw.eigh(x))
    assert copies == (2, 1)
    expected = lw.eigh(lw.asarray(X @ X.T))
    for one, other in zip(result, expected, strict=True):
        assert one.backend == "wgpu" and np.array_equal(one.numpy(), other.numpy())


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


@pytest.mark.parametrize("name", ["full", "rand"])
def test_creation(name):
    arguments = ((3, 4), 2.5) if name == "full" else ((3, 4),)
    keywords = {"seed": 1} if name == "rand" else {}
    _ext.without(name)
    with lw.use_backend("wgpu"):
        made, copies = counted(lambda: getattr(lw, name)(*arguments, **keywords))
    assert made.backend == "wgpu" and copies == (1, 0)
    assert np.array_equal(made.numpy(), getattr(lw, name)(*arguments, **keywords).numpy())


def test_gather():
    x, indices = lw.asarray(X).to("wgpu"), lw.asarray([3, 0]).to("wgpu")
    _ext.without("take")
    taken, copies = counted(lambda: lw.take(x.T, indices, axis=1))
    assert taken.backend == "wgpu" and copies == (1, 2)
    assert np.array_equal(taken.numpy(), X.T[:, [3, 0]])


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
