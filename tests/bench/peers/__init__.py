"""Other array libraries to compare with, each a plug-in: a module here and one line in PEERS.

A peer is used where it is installed and has the operation, at its best setting: compiled where it compiles,
without gradients, waiting for its own asynchronous work. check.py compares its results before runner.py times
it.
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
    """What to time where the peer has a loop of its own: run(n) evaluates n times and waits for the last; `timed`, it
    returns the nanoseconds that this took."""

    run: Callable[[int], object]
    read: Callable[[Sequence[int]], list[float]]  # elements of its result, by position in row-major order
    timed: bool = False


class Peer(Protocol):
    """Another library. Its module in this folder has open(threads) -> Peer."""

    name: str
    settings: str  # version and what was set, for the report

    def call(self, case: Case) -> Call | Batch | None:
        """How it does the same work; None where it has no such operation."""
        ...

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Elements of a result of Call.function, by position in row-major order."""
        ...


# name: the package that must be installed, the module here
PEERS: Mapping[str, tuple[str, str]] = {
    "numpy": ("numpy", "tests.bench.peers.numpy_peer"),
    "numpy-out": ("numpy", "tests.bench.peers.numpy_out"),
    "numpy-skylakex": ("numpy", "tests.bench.peers.numpy_skylakex"),
    "torch": ("torch", "tests.bench.peers.torch_peer"),
    "jax": ("jax", "tests.bench.peers.jax_peer"),
    "numexpr": ("numexpr", "tests.bench.peers.numexpr_peer"),
    "numkong": ("numkong", "tests.bench.peers.numkong_peer"),
}
AVX512 = ("numpy-skylakex",)  # kernels for AVX-512, which end the process where it is not there


def missing(name: str) -> str:
    """Why a peer cannot take part here, or nothing."""
    package, module = PEERS[name]
    if find_spec(package) is None:
        return f"not installed; pip install {package}, or leave it out"
    if find_spec(module) is None:
        return "no part of the wheel for browsers; leave it out"
    available = [info.name for info in lw.backends() if info.available]
    return "for processors with AVX-512" if name in AVX512 and "avx512" not in available else ""


def installed() -> list[str]:
    """The peers that can take part here."""
    return [name for name in PEERS if not missing(name)]


def open_peer(name: str, threads: int) -> Peer:
    """Import a peer and set it up. ArgumentError where there is none of that name, or it cannot take part."""
    if name not in PEERS:
        raise ArgumentError(f"bench: there is no peer {name!r}; there are {', '.join(PEERS)}")
    if reason := missing(name):
        raise ArgumentError(f"bench: the peer {name} is {reason}")
    peer: Peer = importlib.import_module(PEERS[name][1]).open(threads)
    return peer


def convert(arguments: Sequence[Argument], array: Callable[[HostArray], Any]) -> tuple[Any, ...]:
    """The arguments of a case with each host array replaced by one of the caller's own."""

    def converted(argument: Argument) -> Any:
        if isinstance(argument, HostArray):
            return array(argument)
        if isinstance(argument, Several):
            return [array(item) for item in argument.items]
        return argument

    return tuple(map(converted, arguments))
