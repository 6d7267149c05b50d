"""Reading tensors on a device: Python and NumPy see what they see of a tensor on the CPU, but never its memory."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext
from tests.loopback.comparison import READERS, assert_same_bits, on

X = np.linspace(-3, 4, 24, dtype=np.float32).reshape(4, 6)


SHOWN = {"repr": lambda x: re.sub(r",\s+backend=\w+", "", repr(x))}


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[1:, ::-1], lambda x: x.T], ids=["whole", "view", "T"])
@pytest.mark.parametrize("name", [*READERS, *SHOWN])
def test_readers(name: str, view: Callable[[lw.Tensor], lw.Tensor]) -> None:
    read = {**READERS, **SHOWN}[name]
    assert read(view(on("wgpu", X))) == read(view(on("cpu", X)))


def test_places_of_copies() -> None:
    x = on("wgpu", X)
    assert (copy.deepcopy(x).device, copy.copy(x).device, x.copy().device) == ("wgpu",) * 3
    assert pickle.loads(pickle.dumps(x)).device == "cpu"
    other = copy.deepcopy(x)
    other += 1
    assert_same_bits(x, X)


def test_buffers_are_read_only_copies() -> None:
    x = on("wgpu", X)
    buffer, view = np.asarray(x), memoryview(x)
    assert not buffer.flags.writeable and view.readonly
    x += 1
    assert buffer.tolist() == X.tolist() == view.tolist()
    assert_same_bits(x, X + 1)
    with pytest.raises(BufferError):
        np.from_dlpack(x)


def test_numpy_never_follows_an_address() -> None:
    """If the buffer cannot be read, NumPy tries the array interface, which a device does not have, then __array__."""
    x = on("wgpu", X)
    assert not hasattr(x, "__array_interface__")
    _ext.inject("loss", 0)
    with pytest.raises(lw.DeviceError):
        x + 1
    with pytest.raises(lw.DeviceError):
        np.asarray(x)


@pytest.mark.parametrize("step", [2, -1])
def test_strided_indices_of_the_host_are_checked(step):
    """The check of int64 indices reads those that the call uses, although they are on their way to the device."""
    indices = np.array([0, 1, 2**32, 0])[::step]
    with lw.use_backend("wgpu"):
        x = lw.asarray(np.arange(9.0))
        with pytest.raises(lw.IndexOutOfRangeError, match="4294967296"):
            lw.take(x, indices)
        assert lw.take(x, np.arange(9)[::step]).tolist() == np.arange(9.0)[::step].tolist()


def test_large_tensors_are_printed_where_they_are() -> None:
    values = np.arange(6000, dtype=np.float32).reshape(20, 3, 100)
    on_device, on_host = on("wgpu", values), on("cpu", values)
    text = str(values)
    before = lw.memory_stats()
    with lw.use_backend("wgpu"):
        assert str(on_host) == text
    assert lw.memory_stats()["readbacks"] == before["readbacks"]
    with lw.use_backend("cpu"):
        assert str(on_device) == text
    after = lw.memory_stats()
    assert (after["uploads"] - before["uploads"], after["readbacks"] - before["readbacks"]) == (0, 1)
