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


def _astype(x: Array, dtype: str) -> Array:
    if dtype == "bfloat16":
        raise NotImplementedError
    return x.astype(dtype)


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


def _attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    *,
    is_causal: bool = False,
    enable_gqa: bool = False,
) -> Array:
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3) for x in (key, value))
    scores = query @ np.swapaxes(key, -1, -2)
    scores *= query.shape[-1] ** -0.5
    if is_causal:
        scores[..., np.tri(*scores.shape[-2:]) == 0] = -np.inf
    if attn_mask is not None:
        scores += attn_mask
    return _softmax(scores) @ value


def _windows(x: Array, height: int, width: int, stride: int, dilation: int = 1) -> Array:
    """Returns a view of the windows of images, with two further axes: the position in a window."""
    reach = ((height - 1) * dilation + 1, (width - 1) * dilation + 1)
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(2, 3))
    return windows[:, :, ::stride, ::stride, ::dilation, ::dilation]


def _conv2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Array:
    """Computes conv2d as a matrix product for each group, with the windows as columns."""
    filters, channels, height, width = weight.shape
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = _windows(padded, height, width, stride, dilation)
    count, _, rows, columns = windows.shape[:4]
    matrix = windows.transpose(0, 1, 4, 5, 2, 3).reshape(count, groups, channels * height * width, rows * columns)
    result = (weight.reshape(groups, filters // groups, -1) @ matrix).reshape(count, filters, rows * columns)
    if bias is not None:
        result += bias[:, None]
    return result.reshape(count, filters, rows, columns)


def _pool(join: Callable[..., Array], x: Array, kernel_size: int, stride: int | None) -> Array:
    """Joins one strided view of the images for each position in a window."""
    windows = _windows(x, kernel_size, kernel_size, stride or kernel_size)
    result = windows[..., 0, 0].copy()
    for i in range(1, kernel_size * kernel_size):
        join(result, windows[..., i // kernel_size, i % kernel_size], out=result)
    return result


def _max_pool2d(x: Array, *, kernel_size: int, stride: int | None = None) -> Array:
    return _pool(np.maximum, x, kernel_size, stride)


def _avg_pool2d(x: Array, *, kernel_size: int, stride: int | None = None) -> Array:
    result = _pool(np.add, x, kernel_size, stride)
    result /= kernel_size * kernel_size
    return result


def _topk(x: Array, k: int, axis: int = -1) -> tuple[Array, Array]:
    chosen = np.moveaxis(np.argpartition(x, -k, axis=axis), axis, -1)[..., -k:]
    values = np.take_along_axis(np.moveaxis(x, axis, -1), chosen, -1)
    order = np.lexsort((chosen, -values), axis=-1)
    sorted_values, positions = (np.take_along_axis(each, order, -1) for each in (values, chosen))
    return np.moveaxis(sorted_values, -1, axis), np.moveaxis(positions, -1, axis)


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
    "astype": _astype,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "linear": _linear,
    "scaled_dot_product_attention": _attention,
    "conv2d": _conv2d,
    "max_pool2d": _max_pool2d,
    "cumulative_sum": lambda x, axis=None: np.cumsum(x, axis=axis),  # its other name is new in NumPy 2.1
    "take": lambda x, indices, axis=None: x.take(indices, axis=axis),
    "concat": lambda arrays, axis=0: np.concatenate(list(arrays), axis=axis),
    "flatten": np.ravel,
    "round": lambda x: x.copy() if x.dtype.kind in "iu" else np.round(x),  # which returns integers themselves
    "embedding": lambda indices, weight: weight.take(indices, axis=0),
    "avg_pool2d": _avg_pool2d,
    "argsort": lambda x, axis=-1: np.argsort(x, axis=axis, kind="stable"),
    "asarray": lambda x, copy=None: x.copy() if copy else x,
    "norm_l1": lambda x, axis=None: np.abs(x).sum(axis=axis),
    "norm_linf": lambda x, axis=None: np.abs(x).max(axis=axis),
    "topk": _topk,
    "rand": lambda shape, dtype: _GENERATOR.random(shape, dtype=dtype),
    "randn": lambda shape, dtype: _GENERATOR.standard_normal(shape, dtype=dtype),
}
if find_spec("scipy"):
    from scipy.special import erf

    _FUNCTIONS = {**_FUNCTIONS, "gelu": _gelu, "erf": erf}
