"""Handles calls that the extension passes on to Python.

The hot path never comes here: the extension itself handles tensors, numbers and buffers on CPU backends. It passes on
operations written in Python (kinds `composed` and `creation`, and some views), and calls with operands that only Python
can read: lists, DLPack objects and other packages' arrays. For such a call, dispatch() converts the operands and calls
the operation again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise.dtypes import float64, int64, uint64
from lanewise.errors import ArgumentTypeError, LanewiseError, describe
from lanewise.functions import creation, operations
from lanewise.functions.arguments import refuse_split_shape

__all__ = ["compare", "dispatch", "refuse_keyword", "several"]

# The operations that each module implements. A module is imported at the first call of one of its operations.
_PYTHON: Final = {
    "creation": ("arange", "asarray", "eye", "full", "linspace", "ones", "rand", "randn", "zeros"),
    "products": ("attention_scores", "matvec", "outer", "vecmat", "weighted_sum"),
    "shaping": (
        *("concat", "embedding", "flatten", "flip", "moveaxis", "pad", "repeat", "roll", "split", "stack"),
        *("tile", "tril", "triu"),
    ),
    "sorting": ("nonzero", "topk"),
    "statistics": ("add_rms_norm", "corrcoef", "correlation", "cov", "covariance", "normalize", "zscore"),
}


@cache
def _python(operation: str) -> Callable[..., Any] | None:
    """Returns the function that implements an operation in Python, or None."""
    for module, names in _PYTHON.items():
        if operation in names:
            function: Callable[..., Any] = getattr(import_module(f"lanewise.functions.{module}"), operation)
            return function
    return None


def several(operation: str, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Returns a named tuple with the results of an operation that has several. The extension calls this."""
    from lanewise.functions import results

    result: tuple[Tensor, ...] = results.BY_OPERATION[operation](*tensors)
    return result


def dispatch(operation: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Runs `operation` for the extension, with the arguments of the user's call."""
    function = _python(operation)
    if function is not None:
        try:
            return function(*arguments, **keywords)
        except LanewiseError as error:
            _refuse_loose_arguments(operation, arguments)
            if not error.operation or _is_call(error.operation):
                error.operation = operation
            raise
        except TypeError:
            _refuse_loose_arguments(operation, arguments)
            _check_arguments(operation, function, arguments, keywords)
            raise
    inputs = operations.inputs(operation)
    values = {one.name: value for one, value in zip(inputs, arguments, strict=False)}
    values |= {one.name: keywords[one.name] for one in inputs if one.name in keywords}
    operands = {one.name: _operand(one, values[one.name]) for one in inputs if one.name in values}
    positional = [operands[one.name] for one, _ in zip(inputs, arguments, strict=False)]
    named = {name: operands.get(name, value) for name, value in keywords.items()}
    return getattr(_ext, operation)(*positional, *arguments[len(inputs) :], **named)


def compare(operation: str, x1: Any, x2: Any, out: Tensor | None = None) -> Tensor:
    """Compares integers of 64 bits by value with floats, or uint64 with signed integers, for the extension. float64
    includes all floats, but rounds integers of 64 bits."""
    compared = getattr(_ext, operation)
    tensors = [creation.tensor_of(name, value) for name, value in (("x1", x1), ("x2", x2))]
    rounded = [_ext.astype(x, float64) for x in tensors]
    # Rounding keeps the order, so only numbers that become equal are compared again, as integers, which include them
    # then: beside floats, the largest integers would become 2^63 or 2^64, so they are rounded down.
    ends = {int64: 2.0**63, uint64: 2.0**64} if any(x.dtype.kind == "f" for x in tensors) else {}
    rounded = [
        _ext.where(_ext.less(wide, end), wide, end - end / 2**53) if (end := ends.get(x.dtype)) else wide
        for x, wide in zip(tensors, rounded, strict=True)
    ]
    integers = uint64 if uint64 in (x.dtype for x in tensors) else int64
    whole = [_ext.astype(x, integers) for x in tensors]
    found = compared(*rounded)  # first, so that errors name this operation
    result: Tensor = _ext.where(_ext.equal(*rounded), compared(*whole), found, out=out)
    return result


def refuse_keyword(operation: str, name: str) -> None:
    """Raises the error for a call with a keyword that the operation does not have."""
    from lanewise import other_names

    other_names.refuse_keyword(operation, name)


def _refuse_loose_arguments(operation: str, arguments: tuple[Any, ...]) -> None:
    """Raises an error for a call such as zeros(2, 3) or concat(x, y): separate arguments instead of a tuple or list."""
    if operation in ("ones", "rand", "randn", "zeros"):
        refuse_split_shape(operation, arguments)
    if operation in ("concat", "stack") and arguments and isinstance(arguments[0], Tensor):
        raise ArgumentTypeError(f"expected a list of tensors, got {describe(arguments[0])}; write {operation}([a, b])")


def _is_call(name: str) -> bool:
    """Whether an error's `operation` is a function that Lanewise called: not a backend, a file or a variable."""
    return name in ("getitem", "setitem", "index", "result_type") or hasattr(_ext, name) or hasattr(Tensor, name)


def _check_arguments(
    operation: str, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    """Raises ArgumentTypeError if the arguments do not match the function's signature."""
    import inspect

    signature = inspect.signature(function)
    for name in keywords.keys() - signature.parameters.keys():
        refuse_keyword(operation, name)
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        raise ArgumentTypeError(f"{error}; see help(lw.{operation})") from None


def _operand(one: operations.Input, value: Any) -> Any:
    """Returns a value in a form that the extension can read."""
    if value is None or isinstance(value, Tensor | int | float):
        return value
    if one.dtype is dtypes.int32:
        return creation.indices_of(one.name, value)
    if isinstance(value, list | tuple) and not value:
        return creation.asarray(value, one.dtype)  # float32 if the contract fixes no dtype
    return creation.tensor_of(one.name, value)
