"""NumPy writing into an existing array, which saves the page faults of a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.bench.cases import Case
from tests.bench.peers import Call, Peer, convert
from tests.bench.peers.numpy_peer import NumpyPeer
from tests.bench.peers.numpy_peer import open as open_numpy


def open(threads: int) -> Peer:
    """Sets the number of threads of the BLAS."""
    open_numpy(threads)
    return NumpyOutPeer()


class NumpyOutPeer(NumpyPeer):
    """Computes with NumPy's universal functions, and with compositions of them that write into `out`."""

    name = "numpy-out"

    def call(self, case: Case) -> Call | None:
        """Returns a call that writes into `out`, an array that an earlier call returned."""
        np = self._np
        function = _composed(np).get(case.operation.name) or getattr(np, case.operation.name, None)
        if not callable(function) or (isinstance(function, np.ufunc) and function.nout > 1):
            return None
        if not isinstance(function, np.ufunc) and case.operation.name not in _composed(np):
            return None
        arguments = convert(case.arguments, self._array)
        result = np.asarray(function(*arguments, **case.keywords))
        return Call(function, arguments, {**case.keywords, "out": result})


def _composed(np: Any) -> Mapping[str, Callable[..., Any]]:
    def fma(x1: Any, x2: Any, x3: Any, out: Any = None) -> Any:
        out = np.multiply(x1, x2, out=out)
        return np.add(out, x3, out=out)

    def relu(x: Any, out: Any = None) -> Any:
        return np.maximum(x, 0, out=out)

    return {"fma": fma, "relu": relu}
