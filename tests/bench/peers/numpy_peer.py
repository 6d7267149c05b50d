"""NumPy, with the kernels that its OpenBLAS selects; elsewhere.py starts one with others. `numpy-out` writes into an
existing array, which saves the page faults of a new one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from lanewise.costs.timing import limit_blas_threads
from tests.bench.peers import Batch, Call, Peer
from tests.cases.cases import Case


class NumpyPeer(Peer):
    """Computes with the functions of numpy_functions.py."""

    name = "numpy"
    operators = True

    def __init__(self, threads: int) -> None:
        limit_blas_threads(threads)
        import numpy as np

        from tests.bench.peers import numpy_functions

        self._np = np
        self._function = numpy_functions.function
        self.settings = f"numpy {np.__version__}, BLAS threads: {os.environ.get('OPENBLAS_NUM_THREADS', 'all')}"
        if "OPENBLAS_CORETYPE" in os.environ:
            self.settings += f", OpenBLAS for {os.environ['OPENBLAS_CORETYPE']}"

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns NumPy's function, or a composition."""
        return self._function(case.operation.name)


class NumpyOutPeer(NumpyPeer):
    """Computes with NumPy's universal functions, and with compositions of them that write into `out`."""

    name = "numpy-out"
    operators = False

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns a function with the argument `out`."""
        composed, found = _composed(self._np), getattr(self._np, case.operation.name, None)
        ufunc = isinstance(found, self._np.ufunc) and found.nout == 1
        return composed.get(case.operation.name) or (found if ufunc else None)

    def call(self, case: Case) -> Call | Batch | None:
        """Returns a call that writes into `out`, an array that an earlier call returned."""
        call = super().call(case)
        if not isinstance(call, Call):
            return call
        result = self._np.asarray(call.function(*call.arguments, **call.keywords))
        return Call(call.function, call.arguments, {**call.keywords, "out": result})


def _composed(np: Any) -> Mapping[str, Callable[..., Any]]:
    def fma(x1: Any, x2: Any, x3: Any, out: Any = None) -> Any:
        out = np.multiply(x1, x2, out=out)
        return np.add(out, x3, out=out)

    def relu(x: Any, out: Any = None) -> Any:
        return np.maximum(x, 0, out=out)

    return {"fma": fma, "relu": relu}
