"""Reading tensors on a device: Python and NumPy see what they see of a tensor on the CPU, but never its memory."""

from __future__ import annotations

import asyncio
import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext
from tests.loopback.comparison import assert_same_bits, on

X = np.linspace(-3, 4, 24, dtype=np.float32).reshape(4, 6)

READERS: dict[str, Callable[[lw.Tensor], Any]] = {
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x[1, 2].item(),
    "float": lambda x: float(x[1, 2]),
    "int": lambda x: int(x[1, 2]),
    "bool": lambda x: (bool(x[0, 0]), bool(x[0, 0] * 0)),
    "bytes": lambda x: bytes(x),
    "tobytes": lambda x: x.T.tobytes(),
    "contains": lambda x: (-3.0 in x, 99.0 in x),
    "asarray": lambda x: np.asarray(x).tolist(),
    "cpu_async": lambda x: asyncio.run(x.cpu_async()).tolist(),
    "numpy_async": lambda x: asyncio.run(x[::2].numpy_async()).tolist(),
    "numpy": lambda x: x[::2].numpy().tolist(),
    "memoryview": lambda x: memoryview(x).tolist(),
    "iteration": lambda x: [each.tolist() for each in x],
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "deepcopy": lambda x: copy.deepcopy(x).tolist(),
    "copy": lambda x: copy.copy(x).tolist(),
    "index": lambda x: [10, 20, 30][lw.argmax(x[:, 0] * 0)],
    "repr": lambda x: re.sub(r",\s+backend=\w+", "", repr(x)),
    "format": lambda x: f"{x[1, 2]:.3f}",
}


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[1:, ::-1], lambda x: x.T], ids=["whole", "view", "T"])
@pytest.mark.parametrize("name", READERS)
def test_readers(name: str, view: Callable[[lw.Tensor], lw.Tensor]) -> None:
    expected = READERS[name](view(on("cpu", X)))
    assert READERS[name](view(on("wgpu", X))) == expected


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
