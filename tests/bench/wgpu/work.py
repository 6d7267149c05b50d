"""What each goal for WebGPU measures: a call on tensors that are on the GPU, checked against float64 before it is
timed, and how many bytes it moves or operations it computes. Inputs differ in each run; large ones are taken in turn,
so that none is in a cache."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import lanewise as lw

GPU = "wgpu"
LARGE = 1 << 26
EDGE = 8192
TURNS = 3  # sets of large inputs
SAMPLES = 12  # rows of a matrix that are checked
HEADS, LENGTH, DEPTH = 8, 2048, 64  # of attention
BATCH, CHANNELS, SIZE, WINDOW = 32, 64, 56, 3  # of a convolution
Call = Callable[[int], object]


@dataclass(frozen=True)
class Job:
    """A call to time, and the bytes or operations of one."""

    call: Call
    amount: int = 0
    error: float = 0.0  # found by the check, as a multiple of what is allowed
    torch: Call | None = None


def synchronize() -> None:
    """Waits for the GPU."""
    lw.synchronize(GPU)


class Inputs:
    """Makes random tensors on the GPU, other ones in each run."""

    def __init__(self, seed: int) -> None:
        self._seeds = itertools.count(seed)
        self.random = np.random.default_rng(seed)

    def tensor(self, *shape: int) -> lw.Tensor:
        """Returns normally distributed numbers."""
        return lw.randn(shape, seed=next(self._seeds)).to(GPU)

    def tensors(self, *shape: int) -> list[lw.Tensor]:
        """Returns TURNS such tensors."""
        return [self.tensor(*shape) for _ in range(TURNS)]


def in_turn(function: Callable[..., object], *operands: list[Any]) -> Call:
    """Returns a call that takes the next of the operands each time. It holds the results until it is called again."""
    turns = itertools.cycle(zip(*operands, strict=True) if operands else [()])
    held: list[object] = []

    def call(count: int) -> None:
        held.clear()
        held.extend(function(*next(turns)) for _ in range(count))

    return call


def share(result: Any, expected: np.ndarray, allowed: Any) -> float:
    """Returns the largest error as a multiple of what is allowed; infinity for a NaN."""
    errors = np.abs(np.asarray(result).astype(np.float64) - expected) / allowed
    return float("inf") if np.isnan(errors).any() else float(errors.max())


def elementwise(inputs: Inputs, name: str, arity: int, reference: Callable[..., np.ndarray]) -> Job:
    """Computes with `out`, as an optimizer does."""
    operands = [inputs.tensors(LARGE) for _ in range(arity)]
    results = inputs.tensors(LARGE)
    function = getattr(lw, name)
    function(*(each[0] for each in operands), out=results[0])
    part = slice(LARGE - 10_001, LARGE)
    arrays = [np.array(each[0][part]).astype(np.float64) for each in operands]
    error = share(results[0][part], reference(*arrays), 1e-6 * (1 + sum(map(np.abs, arrays))))
    call = in_turn(lambda *given: function(*given[:-1], out=given[-1]), *operands, results)
    return Job(call, 4 * LARGE * (arity + 1), error, _torch(name, *[(LARGE,)] * arity))


def summed(inputs: Inputs) -> Job:
    """Sums all elements in the order of the contract."""
    operands = inputs.tensors(LARGE)
    array = np.array(operands[0]).astype(np.float64)
    error = share(lw.sum(operands[0]), array.sum(), 1e-6 * np.abs(array).sum())
    return Job(in_turn(lw.sum, operands), 4 * LARGE, error, _torch("sum", (LARGE,)))


def softmax(inputs: Inputs) -> Job:
    """Normalizes rows."""
    operands, results = inputs.tensors(EDGE, EDGE), inputs.tensors(EDGE, EDGE)
    rows = np.array(operands[0][:SAMPLES]).astype(np.float64)
    powers = np.exp(rows - rows.max(1, keepdims=True))
    expected = powers / powers.sum(1, keepdims=True)
    error = share(lw.softmax(operands[0])[:SAMPLES], expected, 4e-6 * expected)
    call = in_turn(lambda x, out: lw.softmax(x, out=out), operands, results)
    return Job(call, 8 * EDGE * EDGE, error, _torch("softmax", (EDGE, EDGE), dim=-1))


def matvec(inputs: Inputs) -> Job:
    """Multiplies a matrix by a vector."""
    matrices, vectors = inputs.tensors(EDGE, EDGE), inputs.tensors(EDGE)
    error = _product_error(inputs, matrices[0], vectors[0])
    call = in_turn(lambda a, x: a @ x, matrices, vectors)
    return Job(call, 4 * EDGE * EDGE, error, _torch("matmul", (EDGE, EDGE), (EDGE,)))


def matmul(inputs: Inputs, edge: int, *, transposed: bool = False) -> Job:
    """Multiplies square matrices."""
    a, b = inputs.tensor(edge, edge), inputs.tensor(edge, edge)
    right = b.mT if transposed else b
    error = _product_error(inputs, a, right)
    return Job(in_turn(lambda: a @ right), 2 * edge**3, error, _torch("matmul", (edge, edge), (edge, edge)))


def _product_error(inputs: Inputs, a: lw.Tensor, b: lw.Tensor) -> float:
    rows = inputs.random.integers(0, a.shape[0], SAMPLES)
    result = np.array(a @ b)[rows]
    left, right = np.array(a).astype(np.float64)[rows], np.array(b).astype(np.float64)
    return share(result, left @ right, 2e-6 * (np.abs(left) @ np.abs(right)))


def attention(inputs: Inputs) -> Job:
    """Causal attention: half of the products count."""
    query, key, value = (inputs.tensor(HEADS, LENGTH, DEPTH) for _ in range(3))
    result = np.array(lw.scaled_dot_product_attention(query, key, value, is_causal=True))[0]
    q, k, v = (np.array(each[0]).astype(np.float64) for each in (query, key, value))
    scores = np.where(np.tri(LENGTH, dtype=bool), q @ k.T / DEPTH**0.5, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    error = share(result, weights / weights.sum(1, keepdims=True) @ v, 1e-5)
    call = in_turn(lambda: lw.scaled_dot_product_attention(query, key, value, is_causal=True))
    return Job(call, 2 * HEADS * LENGTH * LENGTH * DEPTH, error)


def conv2d(inputs: Inputs) -> Job:
    """A layer of a network for images."""
    x, weight = inputs.tensor(BATCH, CHANNELS, SIZE, SIZE), inputs.tensor(CHANNELS, CHANNELS, WINDOW, WINDOW)
    result = np.array(lw.conv2d(x, weight, padding=1)[0, :, 2, 3])
    part = np.array(x[0, :, 1:4, 2:5]).astype(np.float64)
    products = np.array(weight).astype(np.float64) * part
    error = share(result, products.sum((1, 2, 3)), 2e-6 * np.abs(products).sum((1, 2, 3)))
    amount = 2 * BATCH * CHANNELS * CHANNELS * WINDOW**2 * SIZE**2
    return Job(in_turn(lambda: lw.conv2d(x, weight, padding=1)), amount, error)


def fused(inputs: Inputs) -> Job:
    """Three elementwise operations, the last of which is not cheap.

    After each call, a launch that is not part of a chain ends the chain, so that the result may be released. A chain
    that goes on would end in the middle of a call and write an intermediate result; and results of 256 MB that are
    held would exceed what the device caches, so that allocating them takes most of the time.
    """
    operands = inputs.tensors(LARGE)
    for _ in range(3):  # the chain is compiled
        result = lw.gelu(operands[0] * 1.5 + 0.5)
        last = np.array(result[-1000:])
    array = np.array(operands[0][-1000:]).astype(np.float64) * 1.5 + 0.5
    error = share(last, array * (1 + np.vectorize(math.erf)(array / 2**0.5)) / 2, 2e-6)
    one, out = inputs.tensor(1), inputs.tensor(1)
    turns = itertools.cycle(operands)

    def call(count: int) -> None:
        for x in itertools.islice(turns, count):
            result = lw.gelu(x * 1.5 + 0.5)  # noqa: F841 # used until the chain has ended
            lw.add(one, one, out=out)

    return Job(call, error=error)


def tiny(inputs: Inputs) -> Job:
    """A call on 1024 elements, none of whose results is read."""
    x, y, out = (inputs.tensor(1024) for _ in range(3))
    lw.add(x, y, out=out)
    error = share(out, np.array(x).astype(np.float64) + np.array(y), 1e-6)
    return Job(in_turn(lambda: lw.add(x, y, out=out)), error=error)


def read(inputs: Inputs) -> Job:
    """Reads one element."""
    x = lw.max(inputs.tensor(4))
    return Job(in_turn(lambda: x.item()))


def _torch(name: str, *shapes: tuple[int, ...], **keywords: Any) -> Call | None:
    """Returns the same call in PyTorch, if that has CUDA."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    operands = [[torch.randn(shape, device="cuda") for _ in range(TURNS)] for shape in shapes]
    return in_turn(lambda *given: getattr(torch, name)(*given, **keywords), *operands)


def wait_for_torch() -> None:
    """Waits for PyTorch's GPU."""
    import torch

    torch.cuda.synchronize()


@contextmanager
def without_chains() -> Iterator[None]:
    """Opens another device, on which elementwise calls run one by one, and afterwards one like the first. Both times,
    tensors made before are lost."""
    before = os.environ.get("LANEWISE_FUSE")
    os.environ["LANEWISE_FUSE"] = "0"
    try:
        lw.reset(GPU)
        yield
    finally:
        os.environ.pop("LANEWISE_FUSE")
        if before is not None:
            os.environ["LANEWISE_FUSE"] = before
        lw.reset(GPU)
