"""NumPy, with the kernels that its OpenBLAS selects; see numpy_skylakex.py for others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from lanewise.timing import limit_blas_threads
from tests.bench.cases import Case
from tests.bench.inputs import HostArray
from tests.bench.peers import Call, Peer, convert

# OpenBLAS selects kernels by CPU model. On newer AMD processors it selects those for Haswell (AVX2), although
# these processors have AVX-512, and OpenBLAS's kernels for AVX-512 are twice as fast on them.
FOR_AVX512 = {"OPENBLAS_CORETYPE": "SkylakeX"}


def open(threads: int) -> Peer:
    """Sets the number of threads of the BLAS, before NumPy is imported."""
    limit_blas_threads(threads)
    return NumpyPeer()


class NumpyPeer:
    """Computes with the functions of numpy_functions.py."""

    name = "numpy"

    def __init__(self) -> None:
        import numpy as np

        from tests.bench.peers import numpy_functions

        self._np = np
        self._function = numpy_functions.function
        self.settings = f"numpy {np.__version__}, BLAS threads: {os.environ.get('OPENBLAS_NUM_THREADS', 'all')}"
        if "OPENBLAS_CORETYPE" in os.environ:
            self.settings += f", OpenBLAS for {os.environ['OPENBLAS_CORETYPE']}"

    def call(self, case: Case) -> Call | None:
        """Returns a call of NumPy's function on copies of the inputs."""
        function = self._function(case.operation.name)
        return None if function is None else Call(function, convert(case.arguments, self._array), case.keywords)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns some elements as Python floats."""
        flat = self._np.asarray(result).reshape(-1)
        return [float(value) for value in flat[list(positions)]]

    def _array(self, value: HostArray) -> Any:
        return self._np.frombuffer(value.data, value.dtype).reshape(value.shape).copy()
