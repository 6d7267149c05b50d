"""Tests tensors that are larger than a buffer may be: they take several buffers, here of 1024 bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from harness import on_gpu
from openers import Switch, open_player, real_player

import lanewise as lw

LIMIT = 1024
X = np.random.default_rng(5).normal(size=1000).astype(np.float32)


def open_small() -> None:
    open_player(real_player(), 65535, buffer=LIMIT, fuses=True)


@pytest.fixture(autouse=True)
def small(adapter: None, switch: Switch) -> None:
    """Opens the device with the limit, unless an earlier test has."""
    if switch.opener is not open_small:
        switch.use(open_small)


CASES: dict[str, Callable[[lw.Tensor], lw.Tensor]] = {
    "nothing": lambda x: x,
    "one operand": lw.exp,
    "two operands": lambda x: x + x,
    "a number": lambda x: x * 3,
    "0 dimensions": lambda x: x * x[7],
    "two dimensions": lambda x: x.reshape((25, 40)) - 1,
    "another offset": lambda x: x[3:] + x[:-3],
    "a view in one buffer": lambda x: x[10:100:3] * 2,
    "a view across buffers": lambda x: x[200:300] * 2,
    "a reduction in one buffer": lambda x: lw.sum(x[300:500]),
    "a small result": lambda x: (x > 0)[:200],
    "bools": lambda x: x > 0,
    "from bools": lambda x: lw.where(x > 0, x, -x),
    "a cast": lambda x: x.astype(lw.int32),
    "a cast to less": lambda x: x.astype(lw.float16),
    "a chain": lambda x: lw.tanh(x * 2 + 1) - x,
    "a copy": lambda x: x.copy(),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_one_buffer(name: str) -> None:
    case = CASES[name]
    expected = case(lw.asarray(X)).numpy()
    for _ in range(3):  # a chain is compiled when it comes for the second time
        result = case(on_gpu(X))
        assert result.backend == "wgpu"
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_an_empty_view_at_the_end() -> None:
    """It has an address after that of the last buffer."""
    x = on_gpu(np.ones(1024, np.float32))
    assert lw.sum(x[1024:]).item() == 0
    assert (x[1024:].reshape((4, 0)) @ x[1024:].reshape((0, 4))).tolist() == [[0] * 4] * 4


def test_writing() -> None:
    x, out = on_gpu(X), on_gpu(np.zeros_like(X))
    lw.multiply(x, 2, out=out)
    out += x
    out[100:700] = 5
    expected = 3 * X
    expected[100:700] = 5
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)
    out[:] = X[::-1]
    assert np.array_equal(out.numpy(), X[::-1])
    assert np.array_equal(x.numpy(), X)


def test_created_on_the_gpu() -> None:
    before = lw.memory_stats("wgpu")["uploads"]
    assert lw.full((1000,), 7, dtype=lw.int32, device="wgpu").tolist() == [7] * 1000
    assert not lw.zeros((3, 700), device="wgpu").numpy().any()
    assert lw.memory_stats("wgpu")["uploads"] == before


REFUSED: dict[str, Callable[[lw.Tensor], object]] = {
    "a reduction": lw.sum,
    "rows": lambda x: lw.softmax(x),
    "a product": lambda x: x.reshape((25, 40)) @ x.reshape((40, 25)),
    "a step": lambda x: x[::2] + 1,
    "operands of different order": lambda x: x.reshape((25, 40)).T + x.reshape((40, 25)),
    "broadcasting": lambda x: x.reshape((25, 40)) + x[:40],
    "gathering": lambda x: lw.take(x, lw.asarray([1, 2]).to("wgpu")),
    "creation by position": lambda x: lw.arange(1000, dtype=lw.float32, device="wgpu"),
}


TOO_LARGE = (
    r"\w+: wgpu cannot run this call: expected operands and results of at most 1024 bytes, the largest buffer of this "
    r"device, unless .* \.to"
)


@pytest.mark.parametrize("name", REFUSED)
def test_other_operations_are_refused(name: str) -> None:
    x = on_gpu(X)
    with pytest.raises(lw.BackendError, match=TOO_LARGE):
        REFUSED[name](x)
    assert np.array_equal(x.numpy(), X)


def test_memory_is_given_back() -> None:
    before = lw.memory_stats("wgpu")["allocated_bytes"]
    x = on_gpu(X)
    y = x + 1
    assert lw.memory_stats("wgpu")["allocated_bytes"] >= before + 2 * X.nbytes
    del x, y
    assert lw.memory_stats("wgpu")["allocated_bytes"] == before
