"""Converts JavaScript's typed arrays to tensors and back, and returns what test_javascript.py compares."""

from __future__ import annotations

from typing import Any

import js

import lanewise as lw
from lanewise.errors import LanewiseError

evaluate = js.eval

VALUES = {
    "Float32Array": "new Float32Array([1.5, -2, 3.25])",
    "Float64Array": "new Float64Array([1.5, -2, 0.1])",
    "Int32Array": "new Int32Array([1, -2, 2147483647])",
    "BigInt64Array": "new BigInt64Array([1n, -2n, 9007199254740993n])",
    "Int8Array": "new Int8Array([1, -128, 127])",
    "Int16Array": "new Int16Array([1, -32768, 32767])",
    "Uint8Array": "new Uint8Array([0, 128, 255])",
    "Uint8ClampedArray": "new Uint8ClampedArray([0, 128, 255])",
    "Uint16Array": "new Uint16Array([1, 65535])",
    "Uint32Array": "new Uint32Array([1, 4294967295])",
    "BigUint64Array": "new BigUint64Array([1n, 18446744073709551615n])",
    "part": "new Float32Array([9, 1, 2, 3, 9]).subarray(1, 4)",
    "empty": "new Float32Array(0)",
}
REFUSED = {
    "ArrayBuffer": "new ArrayBuffer(8)",
    "DataView": "new DataView(new ArrayBuffer(8))",
}


def error(call: Any) -> str:
    try:
        call()
    except LanewiseError as raised:
        return f"{type(raised).__name__}: {raised}"
    return "nothing was raised"


def back(tensor: lw.Tensor) -> list[Any]:
    """Converts a tensor to a typed array. Returns the name of the array's constructor, and its elements as text."""
    array = tensor.to_js()
    return [str(array.constructor.name), str(array.join(" "))]


def results() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in VALUES.items():
        tensor = lw.asarray(evaluate(text))
        found[name] = [str(tensor.dtype), list(tensor.shape), tensor.tolist(), *back(tensor)]
    found["refused"] = {name: error(lambda text=text: lw.asarray(evaluate(text))) for name, text in REFUSED.items()}
    array = evaluate("new Float32Array([1, 2, 3])")
    found["copy=False"] = error(lambda: lw.asarray(array, copy=False))
    found["dtype"] = lw.asarray(array, dtype=lw.int32).tolist()
    found["operand"] = (lw.add(array, array)).tolist()
    tensor = lw.asarray(array)
    array[0] = 7.0
    found["apart"] = tensor.tolist()
    matrix = lw.reshape(lw.arange(6, dtype=lw.float32), (2, 3))
    found["transposed"] = back(matrix.T)
    found["bool"] = back(lw.asarray([True, False, True]))
    found["no elements"] = back(lw.zeros((0, 3)))
    found["float16"] = error(lw.zeros(3, dtype=lw.float16).to_js)
    large = lw.asarray(evaluate("new Float32Array(1 << 20).fill(0.5)"))
    found["large"] = [large.shape[0], float(lw.sum(large))]
    return found


results() if __name__ == "__main__" else None
