"""NumPy as a peer, with the OpenBLAS kernels that suit the CPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from lanewise.bench.cases import Case
from lanewise.bench.inputs import HostArray
from lanewise.bench.peers import Call, Peer, convert

THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def open(threads: int) -> Peer:
    """Set what counts only before NumPy is imported, whatever the environment says, and import it."""
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(THREADS, str(threads)))
        if _has_avx512():
            # OpenBLAS goes by the CPU's model and takes newer AMD ones for Haswell: half their speed.
            os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
    return NumpyPeer()


def _has_avx512() -> bool:
    import lanewise as lw

    return any(info.name == "avx512" and info.available for info in lw.backends())


class NumpyPeer:
    """NumPy's own functions; see numpy_functions.py."""

    name = "numpy"

    def __init__(self) -> None:
        import numpy as np

        from lanewise.bench.peers import numpy_functions

        self._np = np
        self._function = numpy_functions.function
        self.settings = f"numpy {np.__version__}, BLAS threads: {os.environ.get('OPENBLAS_NUM_THREADS', 'all')}"
        if "OPENBLAS_CORETYPE" in os.environ:
            self.settings += f", OpenBLAS for {os.environ['OPENBLAS_CORETYPE']}"

    def call(self, case: Case) -> Call | None:
        """NumPy's function with arrays of its own."""
        function = self._function(case.operation.name)
        return None if function is None else Call(function, convert(case.arguments, self._array), case.keywords)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Some elements as Python floats."""
        flat = self._np.asarray(result).reshape(-1)
        return [float(value) for value in flat[list(positions)]]

    def _array(self, value: HostArray) -> Any:
        return self._np.frombuffer(value.data, value.dtype).reshape(value.shape).copy()
