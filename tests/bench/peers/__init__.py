"""Peers: other array libraries to compare Lanewise with, each with a module here and a line in PEERS.

A peer takes part if it is installed, supports the processor and has the operation. It runs at its best settings:
compiled if it can compile, and without gradients. Times include its asynchronous work.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import lanewise as lw
from lanewise.errors import ArgumentError
from tests.cases.cases import Argument, Case, Several, Viewed
from tests.cases.inputs import HostArray


@dataclass(frozen=True)
class Call:
    """What to time: function(*arguments, **keywords)."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """What to time if the peer runs the loop itself: run(n) makes n calls and waits for the last result.

    If `timed`, run(n) returns the nanoseconds that the n calls took.
    """

    run: Callable[[int], object]
    read: Callable[[Sequence[int]], list[float]]  # returns elements of the result, by position in row-major order
    timed: bool = False


class Peer:
    """Another library. A class in a module of this folder derives from this."""

    name: str
    settings: str  # its version and settings, for the report
    lacks: Collection[str] = ("bfloat16",)  # the dtypes that its arrays cannot have
    operators = False  # whether its arrays have operators that are as fast as its functions, or faster
    finish: Callable[[Any], object] | None = None  # waits for the last result, if calls return before they are done

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns the library's function for the operation, or None if it has none."""
        raise NotImplementedError

    def array(self, value: HostArray | Viewed) -> Any:
        """Returns an array of the library with these elements."""
        return to_numpy(value)

    def call(self, case: Case) -> Call | Batch | None:
        """Returns what to time for the case, or None if the peer does not have the operation or a dtype."""
        if any(item.dtype in self.lacks for item in case.inputs):
            return None
        function = self.function(case)
        return None if function is None else Call(function, convert(case.arguments, self.array), case.keywords)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns elements of a result of Call.function, by position in row-major order; several arrays are joined."""
        import numpy as np

        parts = result if isinstance(result, list | tuple) else [result]
        flat = np.concatenate([np.asarray(part).reshape(-1) for part in parts])
        return [float(value) for value in flat[list(positions)]]


# name of the peer: the package that must be installed, a module in this folder, and what makes the peer there from a
# number of threads, before the package is imported
PEERS: Mapping[str, tuple[str, str, str]] = {
    "numpy": ("numpy", "numpy_peer", "NumpyPeer"),
    "numpy-out": ("numpy", "numpy_peer", "NumpyOutPeer"),
    "numpy-skylakex": ("numpy", "elsewhere", "numpy_for_avx512"),
    "numpy-avx2": ("numpy", "elsewhere", "numpy_without_avx512"),
    "torch": ("torch", "torch_peer", "TorchPeer"),
    "jax": ("jax", "jax_peer", "JaxPeer"),
    "numexpr": ("numexpr", "numexpr_peer", "NumexprPeer"),
    "numkong": ("numkong", "numkong_peer", "NumkongPeer"),
}
# The instruction sets that some peers are for. The kernels of numpy-skylakex crash without AVX-512.
NEEDS: Mapping[str, tuple[str, str]] = {"numpy-skylakex": ("avx512", "AVX-512"), "numpy-avx2": ("avx2", "AVX2")}
ONLY_NAMED = ("numpy-avx2",)  # the same as another peer on many processors, so measured only where a goal needs it


def missing(name: str) -> str:
    """Says why a peer cannot take part, or returns an empty string."""
    package = PEERS[name][0]
    if find_spec(package) is None:
        return f"not installed; pip install {package}, or leave it out"
    return foreign(name)


def foreign(name: str) -> str:
    """Returns which processors a peer needs, or "" if this one will do. On others, no goal waits for it."""
    backend, instructions = NEEDS.get(name, ("", ""))
    available = ["", *(info.name for info in lw.backends() if info.available)]
    return "" if backend in available else f"for processors with {instructions}"


def installed() -> list[str]:
    """Returns the peers that can take part on this machine, unless they do so only if they are named."""
    return [name for name in PEERS if name not in ONLY_NAMED and not missing(name)]


def open_peer(name: str, threads: int) -> Peer:
    """Imports a peer and sets it up. Raises ArgumentError if the name is unknown or the peer cannot take part."""
    if name not in PEERS:
        raise ArgumentError(f"bench: expected peers from {', '.join(PEERS)}, got {name!r}")
    if reason := missing(name):
        raise ArgumentError(f"bench: the peer {name} is {reason}")
    _, module, maker = PEERS[name]
    peer: Peer = getattr(importlib.import_module(f"{__name__}.{module}"), maker)(threads)
    return peer


def on_threads(number: int) -> str:
    """Returns the number of threads as text, for a peer's settings."""
    return f"{number} thread{'s' * (number > 1)}"


def to_numpy(value: HostArray | Viewed) -> Any:
    """Copies an array into one of NumPy; of bfloat16, which NumPy lacks, into one of float32."""
    import numpy as np

    if isinstance(value, Viewed):
        return value.of(to_numpy(value.array), np.transpose)
    if value.dtype == "bfloat16":
        words = np.frombuffer(value.data, np.uint16).astype(np.uint32)
        return (words << 16).view(np.float32).reshape(value.shape)
    return np.frombuffer(value.data, value.dtype).reshape(value.shape).copy()


def convert(arguments: Sequence[Argument], array: Callable[[HostArray | Viewed], Any]) -> tuple[Any, ...]:
    """Replaces each array among the arguments by the result of calling `array` with it."""

    def converted(argument: Argument) -> Any:
        if isinstance(argument, HostArray | Viewed):
            return array(argument)
        if isinstance(argument, Several):
            return [array(item) for item in argument.items]
        return argument

    return tuple(map(converted, arguments))
