"""Counts what calls fail to release: blocks of Python's allocator, references to objects, and the memory of tensors.
A call that releases everything has no losses:

losses([Call("sum", lw.sum, (lw.ones(3),))]) == []
"""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import lanewise as lw
from lanewise import dtypes, errors

__all__ = ["HAS_BLOCKS", "Call", "is_counted", "losses", "tensor_bytes"]

HAS_BLOCKS = sys.getallocatedblocks() > 0  # false with PYTHONMALLOC=malloc: then a leak sanitizer has to find losses
ROUNDS = 8  # repetitions: a leak in each adds 8 or more to a count; other growth, such as that of a dict, stays below 4
IMMORTAL = 1 << 30  # least reference count of immortal objects; small ints of Python 3.11 (999,999,999) are mortal
ATTEMPTS = 3  # measurements; only growth in each of them is a loss

ERRORS = [each for each in vars(errors).values() if isinstance(each, type)]
VALUES = [None, True, False, ..., NotImplemented, (), "", b"", int, float, list, tuple]
WATCHED = [lw.Tensor, *dtypes.ALL, *ERRORS, *VALUES]


@dataclass(frozen=True)
class Call:
    """A call that may raise. The references to its arguments are watched."""

    name: str
    function: Callable[..., object]
    arguments: Sequence[Any] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [*map(_text, self.arguments), *(f"{name}={_text(value)}" for name, value in self.keywords.items())]
        return f"{self.name}({', '.join(f'{each:.60}' for each in given)})"

    def run(self) -> object:
        """Returns the result; the error's class if the call raises."""
        try:
            return self.function(*self.arguments, **self.keywords)
        except Exception as error:
            return type(error)


def _text(value: object) -> str:
    """Returns the repr. A tensor on a device cannot be read if a call on which it depends has failed."""
    try:
        return repr(value)
    except lw.LanewiseError as error:
        return f"{type(value).__name__} ({type(error).__name__})"


def tensor_bytes() -> int:
    """Returns how many bytes tensors have on the CPU and, if it is the default backend, on a device."""
    backend = lw.empty(0).backend
    return sum(lw.memory_stats(each)["allocated_bytes"] for each in ((None, backend) if backend.is_gpu else (None,)))


def _parts(value: object) -> Iterator[object]:
    """Yields an object and, if it is a list, a tuple or a dict, its elements or values, at any depth."""
    yield value
    if isinstance(value, list | tuple):
        for each in value:
            yield from _parts(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _parts(each)


def is_counted(value: object) -> bool:
    """Tells whether Python counts the references to an object. It does not count those to immortal objects, such as
    None and small ints since Python 3.12."""
    return sys.getrefcount(value) < IMMORTAL


def _references(value: object) -> int:
    """Returns the number of references to an object; 0 if it is immortal. The count of an immortal object says
    nothing: an extension built for Python 3.11 changes it, but Python itself does not."""
    return sys.getrefcount(value) if is_counted(value) else 0


def _levels(watched: Sequence[object]) -> list[int]:
    """Returns the numbers of Python's blocks, bytes of tensors, references to small ints and to each watched object."""
    gc.collect()
    ctypes.pythonapi.PyType_ClearCache()  # this cache keeps the names of attributes that were looked up
    return [
        sys.getallocatedblocks(),
        tensor_bytes(),
        sum(map(_references, range(-5, 257))),
        *map(_references, watched),
    ]


def _level(index: int, watched: Sequence[object]) -> str:
    """Returns the name of a number of _levels()."""
    names = ("blocks of Python", "bytes of tensors", "references to small ints")
    if index < len(names):
        return names[index]
    value = watched[index - len(names)]
    return f"references to {type(value).__name__} {_text(value):.40}"


def _growth(calls: Sequence[Call]) -> list[str]:
    """Returns a message for each number of _levels() that grew in proportion to the number of calls."""
    arguments = [part for call in calls for part in _parts((*call.arguments, *call.keywords.values()))]
    watched = [*WATCHED, *{id(each): each for each in arguments}.values()]
    del arguments
    grown: list[str] = []
    for _ in range(ATTEMPTS):
        before = _levels(watched)
        for _ in range(ROUNDS):
            for call in calls:
                call.run()
        after = _levels(watched)
        changes = enumerate(new - old for old, new in zip(before, after, strict=True))
        grown = [f"{_level(i, watched)}: {by:+d} in {ROUNDS} rounds" for i, by in changes if by >= ROUNDS // 2]
        if not grown:
            break
    return grown


def _survivors(call: Call) -> list[str]:
    """Runs a call. Returns a message for each tensor of its result that outlives the last reference to it."""
    result: Any = call.run()
    own = {id(part) for part in _parts((*call.arguments, *call.keywords.values()))}
    results = [weakref.ref(part) for part in _parts(result) if isinstance(part, lw.Tensor) and id(part) not in own]
    del result
    return ["a result outlives its last reference" for each in results if each() is not None]


def losses(calls: Sequence[Call]) -> list[str]:
    """Runs the calls, many times if Python counts blocks, and returns a message for each thing that a call loses."""
    lost = [f"{call}: {each}" for call in calls for each in _survivors(call)]  # also fills caches, which is not a leak
    if HAS_BLOCKS and _growth(calls):
        lost += [f"{call}: {each}" for call in calls for each in _growth([call])] or _growth(calls)
    return lost
