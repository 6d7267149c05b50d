"""The errors Lanewise raises, one hierarchy under LanewiseError.

Each also derives from the built-in exception that NumPy or Python raises in the same situation, so `except
ValueError` keeps working. A message says what was given, what was wanted and what to do, and starts with the
operation's name: `matmul: shapes (3, 4) and (5, 6) do not align; the inner dimensions must match`. The
extension takes these classes once, when the package is imported.
"""

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AxisError",
    "BackendError",
    "BackendUnavailableError",
    "DTypeError",
    "DeviceError",
    "IndexOutOfRangeError",
    "LanewiseError",
    "LibraryError",
    "OutOfMemoryError",
    "RangeError",
    "ReadOnlyError",
    "ShapeError",
]


class LanewiseError(Exception):
    """The base of every error that Lanewise raises on purpose."""


class ShapeError(LanewiseError, ValueError):
    """Shapes do not fit each other, have too many dimensions, or overflow."""


class DTypeError(LanewiseError, TypeError):
    """An operation has no kernel for this dtype, or Lanewise has no such dtype."""


class AxisError(LanewiseError, ValueError, IndexError):
    """An axis is outside the dimensions of its tensor, or is given twice."""


class IndexOutOfRangeError(LanewiseError, IndexError):
    """An integer index is outside the extent of its axis, or something is no index at all."""


class ArgumentError(LanewiseError, ValueError):
    """An argument has the right type and a value that makes no sense."""


class ArgumentTypeError(LanewiseError, TypeError):
    """An argument has a type that cannot be used there."""


class RangeError(LanewiseError, OverflowError):
    """A number does not fit into the dtype that it is meant for."""


class ReadOnlyError(LanewiseError, ValueError):
    """Something wants to write to memory that is read-only."""


class OutOfMemoryError(LanewiseError, MemoryError):
    """Memory for a tensor could not be allocated, or a model would not fit."""


class BackendError(LanewiseError, RuntimeError):
    """Something about a backend: see its subclasses."""


class BackendUnavailableError(BackendError):
    """This machine cannot run the backend that was asked for; the message says why."""


class LibraryError(BackendError, ImportError):
    """A library of kernels is missing, damaged, or of another version than this package."""


class DeviceError(BackendError):
    """A GPU reported a fault; the tensors it was computing are lost."""
