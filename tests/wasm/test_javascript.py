"""Tests conversion of JavaScript's typed arrays to tensors and back, and which objects are refused, in every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import engines
import pytest

import lanewise as lw

PROGRAM = Path(__file__).parent / "programs" / "javascript.py"

Results = dict[str, Any]


@pytest.fixture(scope="session")
def results(engine: engines.Engine) -> Results:
    answer: Results = engine.run(PROGRAM)
    return answer


@pytest.mark.parametrize(
    ("case", "dtype", "values", "array"),
    [
        ("Float32Array", "float32", [1.5, -2.0, 3.25], "Float32Array"),
        ("Float64Array", "float64", [1.5, -2.0, 0.1], "Float64Array"),
        ("Int32Array", "int32", [1, -2, 2**31 - 1], "Int32Array"),
        ("BigInt64Array", "int64", [1, -2, 2**53 + 1], "BigInt64Array"),
        ("Int8Array", "int8", [1, -128, 127], "Int8Array"),
        ("Int16Array", "int16", [1, -32768, 32767], "Int16Array"),
        ("Uint8Array", "uint8", [0, 128, 255], "Uint8Array"),
        ("Uint8ClampedArray", "uint8", [0, 128, 255], "Uint8Array"),
        ("Uint16Array", "uint16", [1, 65535], "Uint16Array"),
        ("Uint32Array", "uint32", [1, 2**32 - 1], "Uint32Array"),
        ("BigUint64Array", "uint64", [1, 2**64 - 1], "BigUint64Array"),
        ("part", "float32", [1.0, 2.0, 3.0], "Float32Array"),
        ("empty", "float32", [], "Float32Array"),
    ],
)
def test_arrays_round_trip_through_tensors(
    results: Results, case: str, dtype: str, values: list[float], array: str
) -> None:
    text = " ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
    assert results[case] == [dtype, [len(values)], values, array, text]


@pytest.mark.parametrize("name", ["ArrayBuffer", "DataView"])
def test_arrays_without_a_dtype_are_refused(results: Results, name: str) -> None:
    cure = "new Float32Array(buffer)" if name == "ArrayBuffer" else "Float32Array.from(array)"
    assert results["refused"][name] == (
        "DTypeError: asarray: expected one of Int8Array, Int16Array, Int32Array, BigInt64Array, Uint8ClampedArray, "
        "Uint8Array, Uint16Array, Uint32Array, BigUint64Array, Float32Array, Float64Array, "
        f"got a {name}; convert it in JavaScript: {cure}"
    )


def test_arrays_and_tensors_share_no_memory(results: Results) -> None:
    assert results["apart"] == [1.0, 2.0, 3.0]
    assert results["copy=False"] == (
        "ArgumentError: asarray: expected copy=None or True for JavaScript's memory, got False; leave copy out"
    )


def test_arrays_are_operands_and_take_a_dtype(results: Results) -> None:
    assert results["operand"] == [2.0, 4.0, 6.0]
    assert results["dtype"] == [1, 2, 3]
    assert results["large"] == [1 << 20, (1 << 20) * 0.5]


def test_out_goes_in_row_major_order(results: Results) -> None:
    assert results["transposed"] == ["Float32Array", "0 3 1 4 2 5"]
    assert results["bool"] == ["Uint8Array", "1 0 1"]
    assert results["no elements"] == ["Float32Array", ""]
    assert results["float16"] == (
        "DTypeError: to_js: expected a dtype with a typed array in Pyodide, got float16; use astype(lw.float32)"
    )


def test_to_js_is_refused_outside_pyodide() -> None:
    with pytest.raises(lw.BackendUnavailableError, match=r"^to_js: expected Python in Pyodide"):
        lw.ones(2).to_js()
