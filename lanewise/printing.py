"""repr(), str() and HTML of tensors, in NumPy's layout.

tensor_repr, tensor_str, tensor_html and tensor_bundle are methods of Tensor (methods.py). If a tensor has more than
`threshold` elements, only the ends of each dimension are read and shown. Each of these methods reads a tensor once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise.errors import ArgumentTypeError, LanewiseError, named
from lanewise.functions.arguments import to_int
from lanewise.numerals import formatter, scalar

__all__ = [
    "get_printoptions", "printoptions", "set_printoptions", "tensor_bundle", "tensor_html", "tensor_repr", "tensor_str",
]  # fmt: skip

# By default, JupyterLab wraps the rows of an array that is wider than its output. With these attributes, the array
# scrolls instead, by keyboard too.
_HTML_START = '<pre style="margin:0;white-space:pre;overflow-x:auto" tabindex="0">'

Nested = Any  # an element, or a list of Nested


class _Options(NamedTuple):
    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 75


class _State(threading.local):
    options = _Options()


_state = _State()


@named("set_printoptions")
def set_printoptions(
    *,
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    **others: Any,
) -> None:
    """Changes how tensors are printed in this thread. Options that are None do not change.

    `precision` is the largest number of digits after the decimal point. Above `threshold` elements, only the first and
    last `edgeitems` of each dimension are shown. `linewidth` is the number of characters in a line.
    """
    if others:
        names = ", ".join(_Options._fields)
        raise ArgumentTypeError(f"there is no option '{next(iter(others))}'; give one of {names}")
    changes = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in changes.items():
        if value is None:
            continue
        minimum = 1 if name in ("edgeitems", "linewidth") else 0
        _state.options = _state.options._replace(**{name: to_int(name, value, minimum=minimum)})


def get_printoptions() -> dict[str, int]:
    """Returns the current options of set_printoptions() in this thread."""
    return _state.options._asdict()


@contextmanager
def printoptions(
    *,
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    **others: Any,
) -> Iterator[None]:
    """Changes how tensors are printed inside a `with` block, like set_printoptions().

    >>> import lanewise as lw
    >>> with lw.printoptions(precision=2):
    ...     print(lw.asarray([2 / 3, 1.0]))
    [0.67 1.  ]
    """
    previous = _state.options
    try:
        set_printoptions(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth, **others)
        yield
    finally:
        _state.options = previous


def tensor_repr(tensor: Tensor) -> str:
    """Returns `Tensor([1., 2.])`, with shape and dtype if the elements do not imply them, and the backend if it is not
    the default. If the elements cannot be read, for example because the GPU is lost, returns the reason in their place,
    as tensor_str() and tensor_html() do.

    >>> import lanewise as lw
    >>> lw.asarray([[1.0, 2.5], [3.0, 4.0]])
    Tensor([[1. , 2.5],
            [3. , 4. ]])
    >>> lw.zeros(0, dtype=lw.int64)
    Tensor([], dtype=int64)
    """
    return _repr_of(tensor, _values(tensor))


def _repr_of(tensor: Tensor, values: Nested) -> str:
    if isinstance(values, LanewiseError):
        place = tensor._backend_name
        return f"Tensor(shape={tensor.shape}, dtype={tensor.dtype}, backend={place}; {values.args[0]})"
    options = _state.options
    extras = []
    if tensor.size == 0 and tensor.shape != (0,):
        extras.append(f"shape={tensor.shape}")
    if tensor.size == 0 or tensor.dtype not in (dtypes.bool, dtypes.int32, dtypes.float32):
        extras.append(f"dtype={tensor.dtype}")
    if (place := tensor._backend_name) != _ext.default_backend():
        extras.append(f"backend={place}")
    prefix = "Tensor("
    text = prefix + _format_elements(tensor, values, ", ", len(prefix), options.linewidth - 1)
    if not extras:
        return text + ")"
    tail = ", ".join(extras) + ")"
    last_line = len(text) - (text.rfind("\n") + 1)
    fits = last_line + len(", ") + len(tail) <= options.linewidth
    return text + "," + (" " if fits else "\n" + " " * len(prefix)) + tail


def tensor_html(self: Tensor, /) -> str:
    """Returns HTML for notebooks: the elements as str() shows them, with shape, dtype and backend.

    >>> import lanewise as lw
    >>> lw.arange(3).to("scalar")._repr_html_().partition(">")[2]
    '[0 1 2]</pre><small>shape (3,), int32, scalar</small>'
    """
    return tensor_bundle(self)["text/html"]


def tensor_bundle(self: Tensor, include: Any = None, exclude: Any = None) -> dict[str, str]:
    """Returns repr() and HTML for a notebook, which would read a tensor on a GPU twice if it called both."""
    from html import escape

    facts = f"shape {self.shape}, {self.dtype}, {self._backend_name}"
    values = _values(self)
    return {
        "text/plain": _repr_of(self, values),
        "text/html": f"{_HTML_START}{escape(_str_of(self, values))}</pre><small>{facts}</small>",
    }


def tensor_str(tensor: Tensor) -> str:
    """Returns `[1. 2.]`, or only the number for a tensor without dimensions.

    >>> import lanewise as lw
    >>> print(lw.arange(3))
    [0 1 2]
    """
    return _str_of(tensor, _values(tensor))


def _str_of(tensor: Tensor, values: Nested) -> str:
    if isinstance(values, LanewiseError):
        return _repr_of(tensor, values)
    if tensor.ndim == 0:
        return scalar(values, tensor.dtype)
    return _format_elements(tensor, values, " ", 0, _state.options.linewidth)


def _format_elements(tensor: Tensor, values: Nested, separator: str, indent: int, width: int) -> str:
    if tensor.size == 0:
        return "[]"
    show = formatter(list(_flat(values, tensor.ndim)), tensor.dtype, _state.options.precision)
    if tensor.ndim == 0:
        return show(values).strip()
    edge = _edge(tensor)
    elided = tuple(bool(edge) and extent > 2 * edge for extent in tensor.shape)
    return _brackets(values, elided, show, separator, " " * (indent + 1), width)


def _edge(tensor: Tensor) -> int:
    """Returns how many elements to show at each end of a dimension; 0 for all."""
    return _state.options.edgeitems if tensor.size > _state.options.threshold else 0


def _values(tensor: Tensor) -> Nested:
    """Returns the elements to show as nested lists, or the error for which they cannot be read. Reads them from a GPU
    at once, and computes where the tensor is."""
    edge = _edge(tensor)
    try:
        return _ends(tensor._place_on(tensor._backend_name), edge).tolist() if edge else tensor.tolist()
    except LanewiseError as error:
        return error


def _ends(tensor: Tensor, edge: int) -> Tensor:
    """Returns a tensor of the elements to show: `edge` from each end of each dimension."""
    axis = next((axis for axis, extent in enumerate(tensor.shape) if extent > 2 * edge), None)
    if axis is None:
        return tensor
    before: tuple[slice, ...] = (slice(None),) * axis
    first = _ends(tensor[(*before, slice(None, edge))], edge)
    last = _ends(tensor[(*before, slice(-edge, None))], edge)
    return _ext.concat([first, last], axis=axis)


def _flat(values: Nested, ndim: int) -> Iterator[Any]:
    if ndim == 0:
        yield values
    else:
        for value in values:
            yield from _flat(value, ndim - 1)


def _brackets(
    values: Nested, elided: tuple[bool, ...], show: Callable[[Any], str], separator: str, indent: str, width: int
) -> str:
    """Returns `values` in brackets. Lines have at most `width` characters; all but the first begin with `indent`."""
    if not elided:
        return show(values)
    width -= 1  # leave room for the closing bracket or a comma
    parts = [
        value if value is ... else _brackets(value, elided[1:], show, separator, indent + " ", width)
        for value in ([*values[: len(values) // 2], ..., *values[len(values) // 2 :]] if elided[0] else values)
    ]
    texts = ["..." if part is ... else part for part in parts]
    if len(elided) > 1:
        gap = separator.rstrip() + "\n" * (len(elided) - 1) + indent
        return "[" + gap.join(texts) + "]"
    lines: list[str] = []
    line = indent
    for position, text in enumerate(texts):
        if len(line) + len(text) > width and len(line) > len(indent):
            lines.append(line.rstrip())
            line = indent
        line += text + (separator if position < len(texts) - 1 else "")
    return "[" + "\n".join([*lines, line])[len(indent) :] + "]"
