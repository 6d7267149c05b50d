"""Models of rand and randn, from the contracts and from the comments of core/random.h and core/ops/randn.h.

Word j of a stream is word j % 4 of block j // 4 of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011). The key is the
seed, in two's complement; the counter is the number of the block. Element i uses word `offset` + i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.models.tree import Array

LOW = np.uint64(2**32 - 1)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = 0x9E3779B9, 0xBB67AE85  # added to the key after each round: the golden ratio - 1 and sqrt(3) - 1, times 2^32

LN2 = np.float32(float.fromhex("0x1.62e43p-1"))
SQRT_HALF_BITS = np.float32(0.5**0.5).view("i4")


def _floats(*texts: str) -> list[np.float32]:
    return [np.float32(float.fromhex(text)) for text in texts]


# The polynomials of core/ops/randn.h, highest coefficient first.
LOG = _floats(
    "0x1.79ec62p-4", "-0x1.25ef64p-3", "0x1.2e979ap-3", "-0x1.5330bp-3",
    "0x1.9913b2p-3", "-0x1.000566p-2", "0x1.555624p-2", "-0x1.fffffcp-2",
)  # fmt: skip
CENTER = _floats(
    "-0x1.1b223ap-27", "0x1.315c36p-23", "-0x1.dcfa9cp-22", "-0x1.cab89ap-18", "0x1.c6bb26p-15",
    "0x1.2b8f4ep-13", "-0x1.b899a6p-9", "0x1.89ed3cp-8", "0x1.66e68ep-2", "0x1.982734p+0",
)  # fmt: skip
TAIL = _floats(
    "0x1.5e3c92p-16", "-0x1.39e0a6p-13", "0x1.bda5eep-14", "0x1.38846ep-9", "-0x1.80bc38p-7",
    "0x1.d43acep-6", "-0x1.6d58ccp-5", "0x1.981c48p-5", "0x1.639ef6p+0", "0x1.a6d9ecp+1",
)  # fmt: skip


def words(positions: Array, seed: int) -> Array:
    """Returns the words at these positions of a stream, as uint32."""
    numbers = positions // np.uint64(4)
    a, b, c, d = numbers & LOW, numbers >> np.uint64(32), np.zeros_like(numbers), np.zeros_like(numbers)
    low, high = seed % 2**32, (seed >> 32) % 2**32
    for _ in range(10):
        left, right = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b = (right >> np.uint64(32)) ^ b ^ np.uint64(low), right & LOW
        c, d = (left >> np.uint64(32)) ^ d ^ np.uint64(high), left & LOW
        low, high = (low + WEYL[0]) % 2**32, (high + WEYL[1]) % 2**32
    return np.choose((positions % np.uint64(4)).astype("i8"), [a, b, c, d]).astype("u4")


def _stream(shape: Any, seed: int, offset: int) -> Array:
    count = int(np.prod(shape, dtype="i8"))
    return words(np.arange(count, dtype="u8") + np.uint64(offset), seed).reshape(shape)


def rand(shape: Any, seed: int, offset: int = 0) -> Array:
    """Returns the upper 24 bits of each word times 2^-24, exactly."""
    return ((_stream(shape, seed, offset) >> 8) * 2.0**-24).astype("f4")


def randn(shape: Any, seed: int, offset: int = 0) -> Array:
    """Returns the normal quantile of (word + 1/2) 2^-32 for each word."""
    return quantile(_stream(shape, seed, offset))


def quantile(word: Array) -> Array:
    """Returns the normal quantile of (word + 1/2) 2^-32, computed as in core/ops/randn.h: every intermediate result is
    rounded to float32. In the comments, y is exactly 2 (word + 1/2) 2^-32 - 1; the variable y is |y|, rounded."""
    signed = (word ^ np.uint32(2**31)).view("i4")  # (y 2^32 - 1)/2
    size = signed ^ (signed >> 31)  # (|y| 2^32 - 1)/2
    rest = size ^ np.int32(2**31 - 1)  # ((1 - |y|) 2^32 - 1)/2
    y, tail = ((each.astype("f4") + np.float32(0.5)) * np.float32(2.0**-31) for each in (size, rest))
    logarithm = _minus_log(tail * (np.float32(1) + y))
    root = np.sqrt(np.maximum(logarithm, np.float32(6)))
    ratio = np.where(
        logarithm > 6, _polynomial(root - np.float32(2.5), TAIL), _polynomial(logarithm - np.float32(1), CENTER)
    )
    return np.copysign(y * ratio, signed.astype("f4"))


def _minus_log(x: Array) -> Array:
    """Returns -ln x = -k ln 2 - ln(1 + f) for x = 2^k (1 + f), with 1 + f from sqrt(1/2) to sqrt(2)."""
    bits = x.view("i4")
    k = (bits - SQRT_HALF_BITS) >> 23
    f = (bits - (k << 23)).view("f4") - np.float32(1)
    return k.astype("f4") * -LN2 - (f + f * f * _polynomial(f, LOG))


def _polynomial(x: Array, coefficients: list[np.float32]) -> Array:
    """Horner's rule."""
    result = np.full_like(x, coefficients[0])
    for each in coefficients[1:]:
        result = result * x + each
    return result


MODELS = {"rand": rand, "randn": randn}
