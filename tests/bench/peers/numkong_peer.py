"""NumKong (formerly SimSIMD): reductions, dot products and a few elementwise functions, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import numkong

from tests.bench.peers import Peer, to_numpy
from tests.cases.cases import Case, Viewed
from tests.cases.inputs import HostArray

# The functions whose results equal Lanewise's for any number of dimensions.
_NAMES = ("add", "multiply", "fma", "sin", "cos", "atan", "sum", "max", "min", "dot")
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(numkong, name) for name in _NAMES},
    "norm_l2": numkong.norm,
}


class NumkongPeer(Peer):
    """Computes with the functions of _FUNCTIONS, on NumKong's tensors."""

    name = "numkong"

    def __init__(self, threads: int) -> None:  # its functions use one
        used = [name for name, there in numkong.get_capabilities().items() if there and name != "serial"]
        self.settings = f"numkong {version('numkong')} ({', '.join(used)})"

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns the function, or None if there is none or the dtype is not float32.

        For inputs of other dtypes, the dtype of NumKong's sums differs from that of Lanewise's.
        """
        return _FUNCTIONS.get(case.operation.name) if case.dtype == "float32" else None

    def array(self, value: HostArray | Viewed) -> Any:
        """Returns a tensor of NumKong."""
        return numkong.Tensor(to_numpy(value))
