"""Calls that the extension does not finish itself.

The hot path never comes here: tensors, numbers and buffers on CPU backends are the extension's own. It hands
over, as they were called, operations without kernels (the kinds `composed` and `creation`), calls with
operands that only Python can read (lists, DLPack objects, other packages' arrays), and calls that are to run
on a GPU. Operands are converted and moved, and the operation is called again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from lanewise import _ext, composed, creation, operations, placement
from lanewise.backend import Backend
from lanewise.errors import ArgumentTypeError, BackendError

__all__ = ["dispatch"]

_PYTHON: Final[Mapping[str, Callable[..., Any]]] = {
    "arange": creation.arange,
    "asarray": creation.asarray,
    "concat": composed.concat,
    "full": creation.full,
    "ones": creation.ones,
    "rand": creation.rand,
    "zeros": creation.zeros,
}


def dispatch(operation: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Finishes a call of `operation` with these arguments."""
    function = _PYTHON.get(operation)
    if function is not None:
        return function(*arguments, **keywords)
    inputs = operations.inputs(operation)
    given = {one.name: value for one, value in zip(inputs, arguments, strict=False)}
    given |= {one.name: keywords[one.name] for one in inputs if one.name in keywords}
    operands = {one.name: _operand(operation, one, given[one.name]) for one in inputs if one.name in given}

    def call(function: Callable[..., Any], operands: Mapping[str, Any]) -> Any:
        positional = [operands[one.name] for one, _ in zip(inputs, arguments, strict=False)]
        named = {name: operands.get(name, value) for name, value in keywords.items()}
        return function(*positional, *arguments[len(inputs) :], **named)

    tensors = [value for value in operands.values() if isinstance(value, _ext.Tensor)]
    backend = placement.common(tensors, operation) or Backend(_ext.current_backend())
    if not backend.is_gpu:
        return call(getattr(_ext, operation), _moved(operands, backend))
    if not operations.falls_back(operation):
        on_device = partial(_ext.call_on_device, operation, backend.value)  # type: ignore[attr-defined]
        return call(on_device, _moved(operands, backend))
    if keywords.get("out") is not None:
        raise BackendError(f"{operation}: out= cannot be on {backend}, where the CPU computes it; leave it out")
    with placement.on_host():
        return placement.move(call(getattr(_ext, operation), _moved(operands, None)), backend)


def _operand(operation: str, one: operations.Input, value: Any) -> Any:
    """What the extension can read of a value."""
    if value is None or isinstance(value, _ext.Tensor | int | float):
        return value
    if isinstance(value, list | tuple) and not value:
        return creation.asarray(value, one.dtype)  # no number tells the dtype
    try:
        return creation.asarray(value)
    except ArgumentTypeError as error:
        reason = str(error).removeprefix("asarray: ")
        raise ArgumentTypeError(f"{operation}: {one.name}: {reason}") from None


def _moved(operands: Mapping[str, Any], backend: Backend | None) -> dict[str, Any]:
    """The operands with those of other memories brought to where `backend` computes; None is the host."""
    wanted = backend.value if backend is not None and backend.is_gpu else "cpu"

    def moved(value: Any) -> Any:
        if not isinstance(value, _ext.Tensor) or placement.device_of(value) == wanted:
            return value
        return placement.to_host(value) if backend is None else placement.move(value, backend)

    return {name: moved(value) for name, value in operands.items()}
