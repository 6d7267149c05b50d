"""The errors that Lanewise raises, one hierarchy under LanewiseError.

Each class also derives from the built-in exception that NumPy or Python raises in the same situation, so that `except
ValueError` keeps working. A message says what was expected, what was given, and what to do; str() puts the operation in
front: `matmul: expected x2 of shape (4, n), got x1 (3, 4) and x2 (5, 4); transpose x2 with .T`.

lanewise/__init__.py passes these classes to the extension.
"""

from __future__ import annotations

import functools
import reprlib
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

__all__ = [
    "ArgumentError", "ArgumentTypeError", "AxisError", "BackendError", "BackendUnavailableError", "DTypeError",
    "DeviceError", "IndexOutOfRangeError", "LanewiseError", "LibraryError", "OutOfMemoryError", "RangeError",
    "ReadOnlyError", "ShapeError", "named",
]  # fmt: skip

_LIMIT = 60  # maximum number of characters that a message shows of a value
_repr = reprlib.Repr()
_repr.maxlist = _repr.maxtuple = 8
_repr.maxstring = _repr.maxlong = _repr.maxother = _LIMIT


def describe_type(value: Any) -> str:
    """Returns the name of a value's type after "a" or "an".

    >>> describe_type([]), describe_type(3)
    ('a list', 'an int')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name.lower().startswith((*'aeiou', 'nd')) else 'a'} {name}"


def describe(value: Any) -> str:
    """Returns the text that stands for a value in a message: the type and shape of an array, else the repr in
    one line, or the type if the repr fails or only shows an address.

    >>> describe(3), describe([0] * 1000)
    ('3', '[0, 0, 0, 0, 0, 0, 0, 0, ...]')
    """
    try:
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape:
            return f"{describe_type(value)} of shape {tuple(shape)}"
        text = " ".join(_repr.repr(value).split())
    except Exception:  # reading the value's shape or calling its __repr__ failed
        return describe_type(value)
    if text.startswith("<") and not isinstance(value, type):  # <object at 0x...>
        return describe_type(value)
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 3]}..."


class LanewiseError(Exception):
    """The base class of every error that Lanewise raises on purpose.

    `operation` is the function that the user called; the extension or `named` sets it. In an error about a backend, a
    file or an environment variable, it is the name of that.
    """

    def __init__(self, *arguments: object, operation: str = "") -> None:
        super().__init__(*arguments)
        self.operation = operation

    def __str__(self) -> str:
        message = super().__str__()
        return f"{self.operation}: {message}" if self.operation else message

    def _render_traceback_(self) -> list[str]:
        """Returns the lines that IPython shows for this error: without the frames of Lanewise in which it was raised,
        so that the call is what a notebook shows. %debug has all frames."""
        tracebacks = sys.modules["IPython"].get_ipython().InteractiveTB
        lines: list[str] = tracebacks.structured_traceback(type(self), self, _outside(self.__traceback__))
        return lines


def _outside(traceback: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without the frames of this package at its end."""
    if traceback is None:
        return None
    inner, frame = _outside(traceback.tb_next), traceback.tb_frame
    if inner is None and frame.f_globals.get("__name__", "").startswith("lanewise."):
        return None
    return TracebackType(inner, frame, traceback.tb_lasti, traceback.tb_lineno)


class ShapeError(LanewiseError, ValueError):
    """A shape does not fit the operation or another shape, has too many dimensions, or overflows."""


class DTypeError(LanewiseError, TypeError):
    """A dtype does not fit the operation, a value or `out`, or Lanewise has no such dtype."""


class AxisError(LanewiseError, ValueError, IndexError):
    """An axis is outside the dimensions of its tensor, or repeated."""


class IndexOutOfRangeError(LanewiseError, IndexError):
    """An index is out of range for its axis, a mask does not have the shape of the dimensions it indexes, or there are
    too many indices or more than one Ellipsis."""


class ArgumentError(LanewiseError, ValueError):
    """An argument has the right type but an invalid value."""


class ArgumentTypeError(LanewiseError, TypeError):
    """An argument has the wrong type."""


class RangeError(LanewiseError, OverflowError):
    """A number does not fit its dtype."""


class ReadOnlyError(LanewiseError, ValueError):
    """A call would write to read-only memory."""


class OutOfMemoryError(LanewiseError, MemoryError):
    """Memory cannot be allocated, or init_backend_with_memory_check() finds no backend with enough free memory."""


class BackendError(LanewiseError, RuntimeError):
    """A backend cannot be used as requested."""


class BackendUnavailableError(BackendError):
    """This machine cannot run the requested backend; the message says why."""


class LibraryError(BackendError, ImportError):
    """A library of kernels is missing, is damaged, or belongs to another version of this package."""


class DeviceError(BackendError):
    """A GPU reported an error; the tensors it was computing are lost."""


def named(operation: str, *replaced: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns a decorator that names Lanewise errors after `operation`, if they have no name or one of `replaced`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*arguments: P.args, **keywords: P.kwargs) -> R:
            try:
                return function(*arguments, **keywords)
            except LanewiseError as error:
                if error.operation in ("", *replaced):
                    error.operation = operation
                raise

        return call

    return decorate
