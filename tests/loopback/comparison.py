"""What the tests of this folder share: tensors on the device, ways to read them, and a comparison of every bit."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes  # noqa: F401  registers bfloat16
import numpy as np

import lanewise as lw

# Ways in which Python and NumPy read a float32 tensor of two dimensions.
READERS: dict[str, Callable[[lw.Tensor], Any]] = {
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x[1, 2].item(),
    "float": lambda x: float(x[1, 2]),
    "int": lambda x: int(x[1, 2]),
    "bool": lambda x: (bool(x[0, 0]), bool(x[0, 0] * 0)),
    "index": lambda x: [10, 20, 30][lw.argmax(x[:, 0] * 0)],
    "format": lambda x: f"{x[1, 2]:.3f}",
    "bytes": bytes,
    "tobytes": lambda x: x.T.tobytes(),
    "contains": lambda x: (x.tolist()[0][0] in x, 99.0 in x),
    "iteration": lambda x: [each.tolist() for each in x],
    "memoryview": lambda x: memoryview(x).tolist(),
    "numpy": lambda x: x[::2].numpy().tolist(),
    "numpy_async": lambda x: asyncio.run(x.T.numpy_async()).tolist(),
    "cpu_async": lambda x: asyncio.run(x.cpu_async()).tolist(),
    "np.asarray": lambda x: np.asarray(x).tolist(),
    "np.array of a view": lambda x: np.array(x.T, dtype=np.float64).tolist(),
    "np.array of a list": lambda x: np.array([x, x]).tolist(),
    "np.mean": lambda x: np.mean(x).item(),
    "an array's ufunc": lambda x: np.hypot(np.ones(x.shape, np.float32), x).tolist(),
    "to": lambda x: x.T.to("cpu").tolist(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "deepcopy": lambda x: copy.deepcopy(x).tolist(),
    "copy": lambda x: copy.copy(x).tolist(),
    "a mask": lambda x: x[x > 0].tolist(),
    "out on the CPU": lambda x: lw.add(x, 1, out=lw.zeros(x.shape)).tolist(),
}


def on(place: str, values: Any, dtype: Any = np.float32) -> lw.Tensor:
    """Returns a row-major tensor of these values that is committed to a backend."""
    return lw.asarray(np.array(values, dtype, order="C")).to(place)


def parts(value: Any) -> list[lw.Tensor]:
    """Returns the tensors of a result, which may be a tuple."""
    return list(value) if isinstance(value, tuple | list) else [value]


def array(tensor: lw.Tensor) -> np.ndarray:
    """Returns a copy of the elements, for which a tensor on a device is read."""
    return np.array(tensor, order="C")


def assert_same_bits(value: Any, expected: Any) -> None:
    """Compares tensors or arrays, or tuples of them: dtypes, shapes and every bit."""
    got, right = parts(value), parts(expected)
    assert len(got) == len(right)
    for one, other in zip(map(array, got), map(array, right), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes(), (one, other)
