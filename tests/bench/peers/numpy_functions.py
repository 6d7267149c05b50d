"""Lanewise's operations in NumPy: NumPy's own function if there is one, otherwise fast plain NumPy code.

The peer in numpy_peer.py times these functions; tests/bench/check.py computes its reference with them in float64.
Results overwrite temporary arrays, as in the code of a careful user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

Array = Any  # not np.ndarray: the type annotations of its operators differ between versions of NumPy
Function = Callable[..., Any]


def function(name: str) -> Function | None:
    """Returns the function that computes an operation in NumPy, or None."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    found = getattr(np, name, None)
    return found if callable(found) else None


def _fma(x1: Array, x2: Array, x3: Array) -> Array:
    result = x1 * x2
    result += x3
    return result


def _sigmoid(x: Array) -> Array:
    result = np.negative(x)
    np.exp(result, out=result)
    result += 1
    return np.reciprocal(result, out=result)


def _silu(x: Array) -> Array:
    result = _sigmoid(x)
    result *= x
    return result


def _gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "none":
        result = x * 0.7071067811865476
        erf(result, out=result)
    else:
        result = x * x
        result *= 0.044715 * 0.7978845608028654
        result += 0.7978845608028654
        result *= x
        np.tanh(result, out=result)
    result += 1
    result *= x
    result *= 0.5
    return result


def _softmax(x: Array, axis: int = -1) -> Array:
    result = x - x.max(axis=axis, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=axis, keepdims=True)
    return result


def _log_softmax(x: Array, axis: int = -1) -> Array:
    result = x - x.max(axis=axis, keepdims=True)
    result -= np.log(np.exp(result).sum(axis=axis, keepdims=True))
    return result


def _layer_norm(
    x: Array, weight: Array | None = None, bias: Array | None = None, *, axis: int = -1, eps: float = 1e-5
) -> Array:
    result = x - x.mean(axis=axis, keepdims=True)
    variance = np.square(result).mean(axis=axis, keepdims=True)
    result /= np.sqrt(variance + eps)
    if weight is not None:
        result *= weight
    if bias is not None:
        result += bias
    return result


def _rms_norm(x: Array, weight: Array | None = None, *, axis: int = -1, eps: float = 1e-5) -> Array:
    result = x / np.sqrt(np.square(x).mean(axis=axis, keepdims=True) + eps)
    if weight is not None:
        result *= weight
    return result


def _linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    result = x @ weight.T
    if bias is not None:
        result += bias
    return result


def _attention(query: Array, key: Array, value: Array, *, is_causal: bool = False) -> Array:
    scores = query @ np.swapaxes(key, -1, -2)
    scores *= query.shape[-1] ** -0.5
    if is_causal:
        scores[..., np.tri(*scores.shape[-2:]) == 0] = -np.inf
    return _softmax(scores) @ value


def _conv2d(x: Array, weight: Array, bias: Array | None = None, *, padding: int = 0) -> Array:
    """Computes conv2d as one matrix product, with the windows as columns."""
    out_channels, channels, height, width = weight.shape
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(2, 3))
    count, _, rows, columns = windows.shape[:4]
    matrix = windows.transpose(0, 1, 4, 5, 2, 3).reshape(count, channels * height * width, rows * columns)
    result = weight.reshape(out_channels, -1) @ matrix
    if bias is not None:
        result += bias[:, None]
    return result.reshape(count, out_channels, rows, columns)


def _max_pool2d(x: Array, *, kernel_size: int) -> Array:
    """Computes max_pool2d for windows that do not overlap, from one strided view for each position in a window."""
    height = x.shape[2] // kernel_size * kernel_size
    width = x.shape[3] // kernel_size * kernel_size
    result: Array | None = None
    for i in range(kernel_size):
        for j in range(kernel_size):
            part = x[:, :, i:height:kernel_size, j:width:kernel_size]
            result = part.copy() if result is None else np.maximum(result, part, out=result)
    if result is None:
        raise ValueError(f"max_pool2d: expected kernel_size of at least 1, got {kernel_size}")
    return result


def _topk(x: Array, k: int) -> tuple[Array, Array]:
    chosen = np.argpartition(x, -k, axis=-1)[..., -k:]
    values = np.take_along_axis(x, chosen, -1)
    order = np.lexsort((chosen, -values), axis=-1)
    return np.take_along_axis(values, order, -1), np.take_along_axis(chosen, order, -1)


_GENERATOR = np.random.Generator(np.random.Philox(0))

_FUNCTIONS: Mapping[str, Function] = {
    "fma": _fma,
    "norm_l2": np.linalg.norm,
    "matvec": np.dot,
    "vecmat": np.dot,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x, slope=0.01: np.where(x > 0, x, slope * x),
    "sigmoid": _sigmoid,
    "silu": _silu,
    "softplus": lambda x: np.logaddexp(x, 0),
    "astype": lambda x, dtype: x.astype(dtype),
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "linear": _linear,
    "scaled_dot_product_attention": _attention,
    "conv2d": _conv2d,
    "max_pool2d": _max_pool2d,
    "take": lambda x, indices, axis=None: x.take(indices, axis=axis),
    "concat": lambda arrays, axis=0: np.concatenate(list(arrays), axis=axis),
    "flatten": np.ravel,
    "embedding": lambda indices, weight: weight.take(indices, axis=0),
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "topk": _topk,
    "rand": lambda shape, dtype: _GENERATOR.random(shape, dtype=dtype),
    "randn": lambda shape, dtype: _GENERATOR.standard_normal(shape, dtype=dtype),
}
if find_spec("scipy"):
    from scipy.special import erf

    _FUNCTIONS = {**_FUNCTIONS, "gelu": _gelu, "erf": erf}
