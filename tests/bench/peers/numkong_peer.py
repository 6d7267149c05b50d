"""NumKong (once SimSIMD) as a peer: reductions, products of vectors and a few elementwise functions, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numkong
import numpy as np  # what its tensors are made of

from tests.bench.cases import Case
from tests.bench.inputs import HostArray
from tests.bench.peers import Call, Peer, convert

# What its functions are called, where they do the same to any number of dimensions.
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
    """These functions have no threads."""
    return NumkongPeer()


class NumkongPeer:
    """Functions of _FUNCTIONS, on tensors of its own."""

    name = "numkong"

    def __init__(self) -> None:
        used = [name for name, there in numkong.get_capabilities().items() if there and name != "serial"]
        self.settings = f"numkong {version('numkong')} ({', '.join(used)})"

    def call(self, case: Case) -> Call | None:
        """In float32 alone: sums of others are of other types there."""
        function = _FUNCTIONS.get(case.operation.name)
        if function is None or case.dtype != "float32":
            return None
        return Call(function, convert(case.arguments, _tensor), case.keywords)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Some elements as Python floats."""
        return [float(value) for value in np.asarray(result).reshape(-1)[list(positions)]]


def _tensor(value: HostArray) -> Any:
    return numkong.Tensor(np.frombuffer(value.data, value.dtype).reshape(value.shape))
