"""NumKong (formerly SimSIMD): reductions, dot products and a few elementwise functions, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numkong
import numpy as np  # NumKong's tensors are made from NumPy's arrays

from tests.bench.cases import Case
from tests.bench.inputs import HostArray
from tests.bench.peers import Call, Peer, convert

# The functions whose results equal Lanewise's for any number of dimensions.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "add": numkong.add,
    "multiply": numkong.multiply,
    "fma": numkong.fma,
    "sin": numkong.sin,
    "cos": numkong.cos,
    "atan": numkong.atan,
    "sum": numkong.sum,
    "max": numkong.max,
    "min": numkong.min,
    "norm_l2": numkong.norm,
    "dot": numkong.dot,
}


def open(threads: int) -> Peer:
    """Returns the peer. `threads` does not matter, because the functions use one thread."""
    return NumkongPeer()


class NumkongPeer:
    """Computes with the functions of _FUNCTIONS, on NumKong's tensors."""

    name = "numkong"

    def __init__(self) -> None:
        used = [name for name, there in numkong.get_capabilities().items() if there and name != "serial"]
        self.settings = f"numkong {version('numkong')} ({', '.join(used)})"

    def call(self, case: Case) -> Call | None:
        """Returns a call of the function, or None if there is none or the dtype is not float32.

        For inputs of other dtypes, the dtype of NumKong's sums differs from that of Lanewise's.
        """
        function = _FUNCTIONS.get(case.operation.name)
        if function is None or case.dtype != "float32":
            return None
        return Call(function, convert(case.arguments, _tensor), case.keywords)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns some elements as Python floats."""
        return [float(value) for value in np.asarray(result).reshape(-1)[list(positions)]]


def _tensor(value: HostArray) -> Any:
    return numkong.Tensor(np.frombuffer(value.data, value.dtype).reshape(value.shape))
