"""Checks results in dtypes that are only stored against those in the dtype that they are computed in, converted. Uses
only lanewise and the standard library, so that it also runs in a Pyodide without NumPy. tests/sweep tries more inputs,
with NumPy.

Each check raises AssertionError if a result is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import oracle_file

import lanewise as lw

LARGEST = 400  # elements of the inputs of a case
STEPS = 8  # roundings of an operation that is composed of others

Draw = Callable[..., Any]  # takes the extents of a tensor and returns random numbers

# How to call the operations that return several tensors. Those that only move elements have checks of their own.
CALLS: dict[str, Callable[[Draw], tuple[Any, ...]]] = {
    "add_rms_norm": lambda of: lw.add_rms_norm(of(7, 130), of(7, 130), of(130)),
    "eigh": lambda of: lw.eigh(of(2, 9, 9)),
    "topk": lambda of: lw.topk(of(6, 50), 9),
}


def tensor(array: oracle_file.Array | None) -> Any:
    """Returns an array of the oracle as a tensor."""
    if array is None:
        return None
    dtype = getattr(lw, array.dtype)
    if array.size == 0:
        return lw.empty(array.shape, dtype=dtype)
    if oracle_file.FORMATS[array.dtype] in ("", "e"):  # memoryview.cast() has no format for them before Python 3.14
        flat = lw.asarray(list(array.values()), dtype=dtype)
    else:
        data: Any = array.data  # Any, because mypy accepts only literal formats for memoryview.cast()
        flat = lw.asarray(data.cast(oracle_file.FORMATS[array.dtype]))
    return lw.reshape(flat, array.shape)


def check(operation: str, oracle: oracle_file.Oracle, dtype: str, computed: str, *, composed: bool) -> None:
    """Checks an operation on the inputs of a case, or if it has none, on all cases. If it is composed of others, each
    of them rounds."""
    cases = [case for case in oracle.cases if case.computed_dtype == computed]
    function = getattr(lw, operation)
    if not cases[0].inputs:
        compared = [_is_created(function, case.keywords, dtype, computed) for case in cases]
        assert any(compared), f"{dtype}: no case suits it"
        return
    sizes = [[each.size for each in case.inputs if each] for case in cases]
    case = max(zip(sizes, cases, strict=True), key=lambda each: _usable(each[0]))[1]
    steps = STEPS if composed and lw.isdtype(dtype, "real floating") else 0
    inputs = [tensor(each) for each in case.inputs]
    if steps:
        inputs = [x if x is None else x / 32 for x in inputs]  # so that no sum of squares overflows
    _compare(case.name, lambda of: function(*map(of, inputs), **case.keywords), dtype, computed, steps)


def check_several(operation: str, dtype: str, computed: str) -> None:
    """Checks an operation of CALLS."""

    def call(of: Callable[[Any], Any]) -> Any:
        return CALLS[operation](lambda *shape: of(lw.astype(lw.rand(shape, seed=len(shape)) * 80 - 40, computed)))

    _compare(operation, call, dtype, computed, 0)


def _usable(sizes: list[int]) -> int:
    total = sum(sizes)
    return total if min(sizes) > 0 and total <= LARGEST else 0


def _compare(what: str, call: Callable[[Callable[[Any], Any]], Any], dtype: str, computed: str, steps: int) -> None:
    """Compares a call with tensors of a stored dtype with one whose tensors have been converted to the computed dtype.
    `call` takes a function that converts a tensor. With `steps`, results may differ by this many times the precision of
    the stored dtype at the largest of them."""

    def narrow(x: Any) -> Any:
        return x if x is None or x.dtype != computed else lw.astype(x, dtype)

    def wide(x: Any) -> Any:
        return x if x is None or x.dtype != computed else lw.astype(narrow(x), computed)

    several = [each if isinstance(each, tuple) else (each,) for each in (call(narrow), call(wide))]
    for got, expected in zip(*several, strict=True):
        expected = lw.astype(expected, got.dtype)
        if steps:
            allowed = steps * lw.finfo(dtype).eps * lw.max(lw.abs(lw.astype(expected, "float32"))).item()
            error = lw.max(lw.abs(lw.astype(got, "float32") - lw.astype(expected, "float32"))).item()
            assert error <= allowed, f"{dtype}, {what}: expected an error of at most {allowed}, got {error}"
        else:
            assert got.tobytes() == expected.tobytes(), f"{dtype}, {what}: expected {expected}, got {got}"


def _is_created(function: Callable[..., Any], keywords: Any, dtype: str, computed: str) -> bool:
    """Checks a tensor that is created in a stored dtype. Returns whether the dtype holds the numbers of the call."""
    try:
        got = function(**{**keywords, "dtype": dtype})
    except lw.RangeError:
        return False
    expected = function(**{**keywords, "dtype": computed})
    if function is lw.rand:  # which draws as many bits as the dtype has
        unit = lw.finfo(dtype).eps / 2
        expected = lw.floor(expected / unit) * unit
    expected = lw.astype(expected, dtype)
    assert got.tobytes() == expected.tobytes(), f"{dtype}, {keywords}: expected {expected}, got {got}"
    return True
