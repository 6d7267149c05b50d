"""Functions for the contracts' reference expressions: simple code that is exact or computes in float64.

The expressions see `np`, the functions of this file, and the operation's inputs and parameters by name. Floats are
float64 and integers int64, but uint64 stays so: sums and products of 32 bits wrap around only when the result is
converted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from types import FunctionType
from typing import Any

import ml_dtypes  # noqa: F401  registers bfloat16
import numpy as np

from .facts import FACTS
from .schema import FLOATS, INTEGERS

Array = np.ndarray[Any, Any]

_erf = np.frompyfunc(math.erf, 1, 1)
PI = np.longdouble("3.14159265358979323846264338327950288")


def erf(x: Array) -> Array:
    """Returns the error function of each element; of longdouble, by its series with e^(-x^2), whose terms are positive
    (Abramowitz and Stegun, 7.1.6)."""
    if x.dtype != np.longdouble:
        return np.asarray(_erf(x), dtype=np.float64)
    bounded = np.clip(x, -7, 7)
    square, term, total = bounded * bounded, bounded.copy(), bounded.copy()
    for n in range(1, 200):
        term *= square
        term *= 2 / np.longdouble(2 * n + 1)
        total += term
        if n % 16 == 0 and np.all(np.abs(term) <= 2.0**-68 * np.abs(total)):
            break
    return np.asarray(np.where(np.abs(x) > 6.5, np.sign(x), 2 / np.sqrt(PI) * np.exp(-square) * total))


def exact_fma(x1: Array, x2: Array, x3: Array) -> Array:
    """Returns x1 * x2 + x3, rounded once to float64."""

    def one(x: float, y: float, z: float) -> float:
        if not math.isfinite(x) or not math.isfinite(y) or x == 0 or y == 0:
            return x * y + z
        if not math.isfinite(z):
            return z
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        try:
            return float(exact) if exact else x * y + z
        except OverflowError:
            return math.copysign(math.inf, exact)

    return np.asarray(np.frompyfunc(one, 3, 1)(x1, x2, x3), dtype=np.float64)


def fma(x1: Array, x2: Array, x3: Array) -> Array:
    """Returns x1 * x2 + x3 of float32 values, rounded to odd in float64, so that rounding to float32 gives the fma."""
    product = x1 * x2  # exact, because both significands have 24 bits
    total = product + x3
    virtual = total - product
    error = (product - (total - virtual)) + (x3 - virtual)  # Knuth's TwoSum
    bits = np.asarray(total).view(np.int64)
    even = (bits & 1) == 0
    step = np.where((error > 0) == (total > 0), 1, -1)  # toward the exact value
    odd = np.where(even & (error != 0) & np.isfinite(error), bits + step, bits)
    return np.asarray(odd, dtype=np.int64).view(np.float64)


def floor_divide(x1: Array, x2: Array) -> Array:
    """Returns the floor of the quotient of float64; where the quotient is whole when rounded, returns it. NumPy's floor
    is wrong for some quotients above 2^51."""

    def one(x: float, y: float) -> float:
        return float(Fraction(x) // Fraction(y))

    x1, x2 = np.broadcast_arrays(x1, x2)
    quotient = np.divide(x1, x2)
    result = np.where(np.abs(quotient) >= 2.0**53, quotient, np.floor_divide(x1, x2))
    large = (np.abs(quotient) >= 2.0**50) & (np.abs(quotient) < 2.0**53)
    result[large] = np.frompyfunc(one, 2, 1)(x1[large], x2[large])
    return np.asarray(result)


def integer_power(x1: Array, x2: Array) -> Array:
    """Returns x1^x2, wrapped around to int64. If x2 is negative, returns 1 / x1^-x2 truncated, or 0 if x1 is 0."""

    def power(base: int, exponent: int) -> int:
        if exponent < 0:
            return base ** (exponent & 1) if abs(base) == 1 else 0
        return (pow(base, exponent, 2**64) + 2**63) % 2**64 - 2**63

    return np.asarray(np.frompyfunc(power, 2, 1)(x1.astype(object), x2.astype(object)), dtype=np.int64)


def cast(x: Array, dtype: str) -> Array:
    """Converts an array as astype does. Unlike the inputs of other functions, x is not widened to float64 or int64."""
    x = np.asarray(x)
    if dtype == "bool":
        return np.asarray(x != 0)
    if x.dtype.name in FLOATS and dtype in INTEGERS:
        info = np.iinfo(dtype)
        whole = np.trunc(np.nan_to_num(x.astype(np.longdouble), nan=0, posinf=np.inf, neginf=-np.inf))
        return np.clip(whole, np.longdouble(info.min), np.longdouble(info.max)).astype(dtype)
    if dtype in FLOATS and FACTS.dtypes[dtype].bits == 16:
        return _rounded_to_half(x.astype(np.longdouble), FACTS.dtypes[dtype].fraction).astype(dtype)
    return x.astype(dtype)


def _rounded_to_half(x: Array, fraction: int) -> Array:
    """Rounds to a float of 16 bits with so many bits of fraction, to nearest even."""
    bias = 2 ** (14 - fraction) - 1
    unit = np.maximum(np.frexp(x)[1] - 1, 1 - bias) - fraction
    rounded = np.ldexp(np.rint(np.ldexp(x, -unit)), unit)
    return np.where(np.abs(rounded) >= 2.0 ** (bias + 1), np.copysign(np.inf, x), rounded)


def var(x: Array, axis: Any, keepdims: bool, correction: float) -> Array:
    """Returns the variance. Subtracting the mean of the deviations removes the rounding error of the first mean."""
    axes = None if axis is None else tuple(np.atleast_1d(axis))
    count = x.size if axes is None else math.prod(x.shape[each] for each in axes)
    deviations = x - np.mean(x, axis=axes, keepdims=True)
    deviations = deviations - np.mean(deviations, axis=axes, keepdims=True)
    squares = np.sum(deviations * deviations, axis=axes, keepdims=keepdims)
    return np.asarray(squares / np.float64(max(count - correction, 0)))


def std(x: Array, axis: Any, keepdims: bool, correction: float) -> Array:
    """Returns the standard deviation."""
    return np.sqrt(var(x, axis, keepdims, correction))


def covariance(x1: Array, x2: Array, axis: int, correction: float) -> Array:
    """Returns the covariance of pairs of vectors along an axis."""
    products = (x1 - np.mean(x1, axis=axis, keepdims=True)) * (x2 - np.mean(x2, axis=axis, keepdims=True))
    return np.asarray(np.sum(products, axis=axis) / np.float64(max(x1.shape[axis] - correction, 0)))


def correlation(x1: Array, x2: Array, axis: int) -> Array:
    """Returns the correlation of pairs of vectors along an axis."""
    return np.asarray(covariance(x1, x2, axis, 0) / (std(x1, axis, False, 0) * std(x2, axis, False, 0)))


def cov(x: Array, y: Array | None, rowvar: bool, correction: float) -> Array:
    """Returns NumPy's covariance matrix."""
    return np.asarray(np.cov(x, y, rowvar=rowvar, ddof=int(correction)))


def corrcoef(x: Array, y: Array | None, rowvar: bool) -> Array:
    """Returns NumPy's correlation matrix."""
    return np.asarray(np.corrcoef(x, y, rowvar=rowvar))


def softmax(x: Array, axis: int) -> Array:
    """Returns the softmax of rows along an axis."""
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return np.asarray(powers / np.sum(powers, axis=axis, keepdims=True))


def log_softmax(x: Array, axis: int) -> Array:
    """Returns the logarithm of the softmax of rows along an axis."""
    shifted = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))


def layer_norm(x: Array, weight: Array | None, bias: Array | None, axis: int, eps: float) -> Array:
    """Normalizes rows along an axis; weight and bias may be None."""
    deviations = x - np.mean(x, axis=axis, keepdims=True)
    variance = np.mean(deviations * deviations, axis=axis, keepdims=True)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    scaled = deviations / np.sqrt(variance + eps)
    scaled = scaled if weight is None else scaled * weight.reshape(shape)
    return np.asarray(scaled if bias is None else scaled + bias.reshape(shape))


def rms_norm(x: Array, weight: Array | None, axis: int, eps: float) -> Array:
    """Normalizes rows along an axis by their root mean square; weight may be None."""
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    scaled = x / np.sqrt(np.mean(x * x, axis=axis, keepdims=True) + eps)
    return np.asarray(scaled if weight is None else scaled * weight.reshape(shape))


def minmax(x: Array, axis: int) -> Array:
    """Scales rows along an axis to [0, 1]."""
    least = np.min(x, axis=axis, keepdims=True, initial=np.inf)
    return np.asarray((x - least) / (np.max(x, axis=axis, keepdims=True, initial=-np.inf) - least))


def activate(x: Array, activation: str) -> Array:
    """Applies the activation of this name, one of those that the operation `linear` offers."""
    functions: dict[str, Callable[[], Array]] = {
        "none": lambda: x,
        "relu": lambda: np.maximum(x, 0),
        "gelu": lambda: x * (1 + erf(x / np.sqrt(x.dtype.type(2)))) / 2,
        "gelu_tanh": lambda: x * (1 + np.tanh(np.sqrt(2 / x.dtype.type(PI)) * (x + 0.044715 * x**3))) / 2,
        "silu": lambda: x / (1 + np.exp(-x)),
        "sigmoid": lambda: 1 / (1 + np.exp(-x)),
        "tanh": lambda: np.tanh(x),
    }
    return np.asarray(functions[activation]())


def eigvalsh(x: Array) -> Array:
    """Returns the eigenvalues of symmetric matrices; of longdouble, which NumPy cannot decompose, by Jacobi rotations
    (Golub and Van Loan, Matrix Computations, section 8.5)."""
    if x.dtype != np.longdouble:
        return np.asarray(np.linalg.eigvalsh(x))
    n = x.shape[-1]
    a = np.tril(x) + np.swapaxes(np.tril(x, -1), -1, -2)
    for _ in range(30):
        for p in range(n - 1):
            for q in range(p + 1, n):
                apart, off = (a[..., q, q] - a[..., p, p]) / 2, a[..., p, q]
                reach = np.abs(apart) + np.hypot(apart, off)
                tangent = np.where(off == 0, 0, np.copysign(1, apart) * off / np.where(reach == 0, 1, reach))
                cosine = 1 / np.hypot(1, tangent)
                sine = tangent * cosine
                for rows in (a, np.swapaxes(a, -1, -2)):
                    first, second = rows[..., p, :].copy(), rows[..., q, :].copy()
                    rows[..., p, :] = cosine[..., None] * first - sine[..., None] * second
                    rows[..., q, :] = sine[..., None] * first + cosine[..., None] * second
        if np.max(np.abs(np.tril(a, -1)), initial=0) <= 1e-19 * np.max(np.abs(a), initial=0):
            break
    return np.sort(np.diagonal(a, axis1=-2, axis2=-1), axis=-1)


def order(x: Array, axis: int, descending: bool) -> Array:
    """Returns the indices that sort x; the sort is stable, and NaN counts as the largest value."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return np.asarray(x.shape[axis] - 1 - np.flip(backwards, axis))


def flatten(x: Array, start_dim: int, end_dim: int) -> Array:
    """Joins the dimensions from start_dim through end_dim."""
    shape = x.shape or (1,)
    last = range(len(shape))[end_dim] + 1
    first = range(len(shape))[start_dim]
    return x.reshape((*shape[:first], math.prod(shape[first:last]), *shape[last:]))


def pair(value: int | Sequence[int]) -> tuple[int, int]:
    """Returns (height, width); one int stands for both."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def _windows(x: Array, size: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int]) -> Array:
    """Returns the windows of padded images in an array (N, C, rows, columns, window height, window width)."""
    spans = [(size[i] - 1) * dilation[i] + 1 for i in (0, 1)]
    views = np.lib.stride_tricks.sliding_window_view(x, spans, axis=(2, 3))
    return np.asarray(views[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]])


def conv2d(x: Array, weight: Array, bias: Array | None, stride: Any, padding: Any, dilation: Any, groups: int) -> Array:
    """Returns the cross-correlation of NCHW images with an OIHW weight."""
    rows, columns = pair(padding)
    padded = np.pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    windows = _windows(padded, (weight.shape[2], weight.shape[3]), pair(stride), pair(dilation))
    inputs, outputs = x.shape[1] // groups, weight.shape[0] // groups
    parts = [
        np.einsum(
            "ncijpq,ocpq->noij",
            windows[:, group * inputs : (group + 1) * inputs],
            weight[group * outputs : (group + 1) * outputs],
        )
        for group in range(groups)
    ]
    result = np.concatenate(parts, axis=1)
    return result if bias is None else result + bias.reshape(1, -1, 1, 1)


def max_pool2d(x: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    """Returns the maximum of each window of NCHW images."""
    rows, columns = pair(padding)
    padded = np.pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)), constant_values=-np.inf)
    step = pair(kernel_size if stride is None else stride)
    return np.asarray(np.max(_windows(padded, pair(kernel_size), step, pair(dilation)), axis=(4, 5)))


def avg_pool2d(x: Array, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool) -> Array:
    """Returns the mean of each window of NCHW images."""
    rows, columns = pair(padding)
    widths = ((0, 0), (0, 0), (rows, rows), (columns, columns))
    step = pair(kernel_size if stride is None else stride)
    counted = np.ones_like(x[:1, :1]) if not count_include_pad else np.ones_like(np.pad(x, widths)[:1, :1])
    if not count_include_pad:
        counted = np.pad(counted, widths)
    sums, counts = (np.sum(_windows(each, pair(kernel_size), step, (1, 1)), axis=(4, 5))
                    for each in (np.pad(x, widths), counted))  # fmt: skip
    return np.asarray(sums / counts)


def attention(query: Array, key: Array, value: Array, attn_mask: Array | None, is_causal: bool, scale: float | None,
              enable_gqa: bool, window: int | None, offset: int) -> Array:  # fmt: skip
    """Returns scaled_dot_product_attention. Queries that see no key give 0; hidden keys and values have no effect."""
    if enable_gqa:
        group = query.shape[-3] // key.shape[-3]
        key, value = (np.repeat(each, group, axis=-3) for each in (key, value))
    with np.errstate(all="ignore"):
        factor = query.dtype.type(query.shape[-1]) ** -0.5 if scale is None else scale
        scores = np.matmul(query, np.swapaxes(key, -1, -2)) * factor
        distance = np.arange(key.shape[-2]) - np.arange(query.shape[-2])[:, None] - offset
        hidden = np.zeros(distance.shape, bool) if window is None else np.abs(distance) >= window
        hidden = hidden | (is_causal & (distance > 0))
        if attn_mask is not None:
            added = np.where(attn_mask, 0, -np.inf) if attn_mask.dtype == bool else attn_mask
            scores, hidden = scores + added, hidden | (added == -np.inf)
        scores = np.where(hidden, -np.inf, scores)
        largest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
        weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
        totals = np.sum(weights, axis=-1, keepdims=True)
        weights = weights / np.where(totals == 0, 1, totals)
        if np.isfinite(value).all():
            return np.asarray(np.matmul(weights, value))
        products = weights[..., None] * value[..., None, :, :]
        return np.asarray(np.sum(np.where(hidden[..., None], 0, products), axis=-2))


def rope(x: Array, theta: float, offset: int, pairs: str, scaling: str, factor: float, axis: int) -> Array:
    """Applies rotary position embedding, with angles in the precision of x."""
    depth = x.dtype.type(x.shape[-1])
    theta, factor = depth.dtype.type(theta), depth.dtype.type(factor)
    if scaling == "ntk" and depth > 2:
        theta = theta * factor ** (depth / (depth - 2))
    slower = factor if scaling == "linear" else 1
    angles = (np.arange(x.shape[axis]) + offset)[:, None] * theta ** (-np.arange(0, depth, 2) / depth) / slower
    moved = np.moveaxis(x, axis, -2)
    middle = x.shape[-1] // 2
    halves = (slice(middle), slice(middle, None))
    parts = (slice(0, None, 2), slice(1, None, 2)) if pairs == "adjacent" else halves
    a, b = moved[..., parts[0]], moved[..., parts[1]]
    result = np.empty_like(moved)
    result[..., parts[0]] = a * np.cos(angles) - b * np.sin(angles)
    result[..., parts[1]] = b * np.cos(angles) + a * np.sin(angles)
    return np.asarray(np.moveaxis(result, -2, axis))


def arange(start: float, stop: float | None, step: float) -> Array:
    """Returns the numbers of the operation arange, in float64 or int64 depending on the arguments."""
    first, last = (0, start) if stop is None else (start, stop)
    count = max(math.ceil((last - first) / step), 0)
    return np.asarray(np.arange(count) * step + first)


def uniform(shape: Any, seed: int, offset: int, dtype: str) -> Array:
    """Returns the numbers of the operation rand, exactly."""
    unused, bits = (11, 53) if dtype == "float64" else (8, 24)
    words = _philox(shape, seed, offset, dtype)
    return np.array([(word >> unused) * 2.0**-bits for word in words]).reshape(shape)


def normal(shape: Any, seed: int, offset: int, dtype: str) -> Array:
    """Returns the numbers of the operation randn, from Python's inverse of the normal distribution function, for the
    smaller of p and 1 - p; in the middle, a step of Newton's method gives back the digits that p lacks."""
    inverse, bits = NormalDist().inv_cdf, 64 if dtype == "float64" else 32

    def quantile(word: int) -> float:
        other = 2**bits - 1 - word
        return math.copysign(inverse((min(word, other) + 0.5) * 2.0**-bits), word - other)

    words = _philox(shape, seed, offset, dtype)
    z = np.array([quantile(word) for word in words], dtype=np.longdouble)
    y = np.array([2 * word + 1 - 2**bits for word in words], dtype=np.longdouble) / 2.0**bits
    with np.errstate(all="ignore"):
        newton = z - (erf(z / np.sqrt(np.longdouble(2))) - y) * np.sqrt(PI / 2) * np.exp(z * z / 2)
    return np.where(np.abs(y) < 0.85, newton, z).astype(np.float64).reshape(shape)


def _philox(shape: Any, seed: int, offset: int, dtype: str) -> list[int]:
    """Returns the words of Philox4x32-10 (Salmon et al., 2011) from position `offset` of the stream, of 32 bits; for
    float64, of 64 bits."""
    count = math.prod([shape] if isinstance(shape, int) else shape)
    if dtype == "float64":
        halves = _philox(2 * count, seed, 2 * offset, "float32")
        return [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]
    blocks = {number: _philox_block(number, seed) for number in range(offset // 4, (offset + count + 3) // 4)}
    return [blocks[(offset + i) // 4][(offset + i) % 4] for i in range(count)]


def _philox_block(number: int, seed: int) -> list[int]:
    mask = 2**32 - 1
    counter = [number & mask, number >> 32 & mask, 0, 0]
    key = [seed & mask, seed >> 32 & mask]
    for _ in range(10):
        low, high = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [(high >> 32) ^ counter[1] ^ key[0], high & mask, (low >> 32) ^ counter[3] ^ key[1], low & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return counter


NAMES: dict[str, Any] = {
    "np": np,
    **{name: each for name, each in globals().items() if isinstance(each, FunctionType) and name[0] != "_"},
}
