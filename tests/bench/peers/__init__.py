"""Peers: other array libraries to compare Lanewise with, each with a module here and a line in PEERS.

A peer takes part if it is installed, supports the processor and has the operation. It runs at its best settings:
compiled if it can compile, and without gradients. Times include its asynchronous work.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol

import lanewise as lw
from lanewise.errors import ArgumentError
from tests.bench.cases import Argument, Case, Several
from tests.bench.inputs import HostArray


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


class Peer(Protocol):
    """Another library. Its module in this folder defines open(threads) -> Peer."""

    name: str
    settings: str  # its version and settings, for the report

    def call(self, case: Case) -> Call | Batch | None:
        """Returns what to time for the case, or None if the peer does not have the operation."""
        ...

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns elements of a result of Call.function, by position in row-major order."""
        ...


# name of the peer: the package that must be installed, its module in this folder
PEERS: Mapping[str, tuple[str, str]] = {
    "numpy": ("numpy", "tests.bench.peers.numpy_peer"),
    "numpy-out": ("numpy", "tests.bench.peers.numpy_out"),
    "numpy-skylakex": ("numpy", "tests.bench.peers.numpy_skylakex"),
    "torch": ("torch", "tests.bench.peers.torch_peer"),
    "jax": ("jax", "tests.bench.peers.jax_peer"),
    "numexpr": ("numexpr", "tests.bench.peers.numexpr_peer"),
    "numkong": ("numkong", "tests.bench.peers.numkong_peer"),
}
AVX512 = ("numpy-skylakex",)  # peers whose kernels crash on processors without AVX-512


def missing(name: str) -> str:
    """Says why a peer cannot take part, or returns an empty string."""
    package, _ = PEERS[name]
    if find_spec(package) is None:
        return f"not installed; pip install {package}, or leave it out"
    available = [info.name for info in lw.backends() if info.available]
    return "for processors with AVX-512" if name in AVX512 and "avx512" not in available else ""


def installed() -> list[str]:
    """Returns the peers that can take part on this machine."""
    return [name for name in PEERS if not missing(name)]


def open_peer(name: str, threads: int) -> Peer:
    """Imports a peer and sets it up. Raises ArgumentError if the name is unknown or the peer cannot take part."""
    if name not in PEERS:
        raise ArgumentError(f"bench: expected peers from {', '.join(PEERS)}, got {name!r}")
    if reason := missing(name):
        raise ArgumentError(f"bench: the peer {name} is {reason}")
    peer: Peer = importlib.import_module(PEERS[name][1]).open(threads)
    return peer


def convert(arguments: Sequence[Argument], array: Callable[[HostArray], Any]) -> tuple[Any, ...]:
    """Replaces each host array among the arguments by the result of calling `array` with it."""

    def converted(argument: Argument) -> Any:
        if isinstance(argument, HostArray):
            return array(argument)
        if isinstance(argument, Several):
            return [array(item) for item in argument.items]
        return argument

    return tuple(map(converted, arguments))
