"""Tests streaming stores, which bypass the caches for large results: kernels give the same bits as with ordinary
stores, at every alignment, and write nothing outside the result."""

import functools
import struct

import numpy as np
import pytest
import raw
from generator.draw import draw
from judge import bits

LINE = 64
SHAPES = [(1,), (15,), (64,), (513,), (1501,), (5, 300), (40, 37)]


def kernels_of(contract):
    """Returns name, computed dtype and result dtype of each kernel."""
    if contract.kind.name == "cast":
        return [(kernel.name, kernel.dtype, kernel.result) for kernel in contract.kernels]
    return [(contract.kernel(dtype), dtype, contract.result(dtype)) for dtype in contract.computed]


def place_at(shift, shape, dtype):
    """Allocates a result that starts `shift` bytes into a cache line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.full(size + 4 * LINE, raw.POISON, np.uint8)
    start = -memory.__array_interface__["data"][0] % LINE + LINE + shift
    return raw.Placed(memory, np.ndarray(shape, dtype, buffer=memory.data, offset=start))


def both(contract, host, kernel, inputs, place, scalars=None, **settings):
    """Yields the bits of the result with ordinary stores, then with streaming stores. Kernels stream a result of more
    than cache_bytes bytes, except that 0 disables streaming."""
    for cache_bytes in (0, 1):
        out = place()
        made = raw.layouts.call(contract, {}, [each.place for each in inputs], out.place)
        context = raw.Context(cache_bytes=cache_bytes, **settings)
        values = scalars or raw.default_scalars(contract)
        assert raw.call(host.value, kernel, made.layout, values, inputs, out, context) == raw.OK
        assert (out.surroundings() == raw.POISON).all()
        yield bits(out.array)


@pytest.mark.contracts(lambda contract: contract.kind.name in ("elementwise", "cast"))
def test_streamed_results(contract, host):
    """Every kernel gives the same bits with both kinds of stores, at various offsets of the result in a cache line."""
    for i, (kernel, dtype, result) in enumerate(kernels_of(contract)):
        item = np.dtype(result).itemsize
        for shape, shift in zip(SHAPES, (item, 1, 0, 3 * item, LINE - item, LINE - 1, 16), strict=True):
            gaps = (len(shape) + i) % 2 == 1
            drawn = [draw(contract, each.name, dtype, shape, "stream") for each in contract.inputs]
            inputs = [raw.copy_of(each, gaps) for each in drawn]
            ordinary, streamed = both(contract, host, kernel, inputs, functools.partial(place_at, shift, shape, result))
            assert np.array_equal(ordinary, streamed), (kernel, shape, shift)


@pytest.mark.contracts(lambda contract: contract.operation in ("add", "fma", "where", "greater"))
@pytest.mark.parametrize("shape", [(7,), (1, 7), (300, 1), (1, 1), (1, 300)], ids=str)
def test_streamed_results_of_broadcast_inputs(contract, host, shape):
    """All inputs but the first are broadcast: a short row, a long row, a column, or a single element."""
    whole = (300, shape[-1] if shape[-1] != 1 else 7)
    for kernel, dtype, result in kernels_of(contract):
        shapes = [whole, *[shape] * (len(contract.inputs) - 1)]
        drawn = [draw(contract, each.name, dtype, s, "s") for each, s in zip(contract.inputs, shapes, strict=True)]
        inputs = [raw.copy_of(each) for each in drawn]
        ordinary, streamed = both(contract, host, kernel, inputs, functools.partial(place_at, 12, whole, result))
        assert np.array_equal(ordinary, streamed), kernel


@pytest.mark.contracts(lambda contract: contract.operation in ("add", "exp", "copy"))
def test_streamed_tasks(contract, host):
    """The bits are also the same if several tasks write the result; each waits for its own streaming stores."""
    kernel, dtype, result = next(each for each in kernels_of(contract) if each[1] == "float32")
    inputs = [raw.copy_of(draw(contract, each.name, dtype, (600_001,), "stream")) for each in contract.inputs]
    ordinary, streamed = both(contract, host, kernel, inputs, lambda: place_at(8, (600_001,), result), tasks=7)
    assert np.array_equal(ordinary, streamed)


@pytest.mark.contracts(lambda contract: contract.operation == "full")
@pytest.mark.parametrize("count", [1, 100, 70_001])
def test_streamed_fills(contract, host, count):
    for dtype in contract.computed:
        kernel, five = contract.kernel(dtype), struct.pack("<d" if "float" in dtype else "<q", 5)
        for shift in (0, 8, 1):
            place = functools.partial(place_at, shift, (count,), dtype)
            ordinary, streamed = both(contract, host, kernel, [], place, scalars=five)
            assert np.array_equal(ordinary, streamed)
            assert (streamed.view(dtype) == (True if dtype == "bool" else 5)).all()


@pytest.mark.contracts(lambda contract: contract.operation in ("add", "negative"))
def test_in_place(contract, host):
    """Both kinds of stores give the same bits if the result overwrites the inputs."""
    x = draw(contract, contract.inputs[0].name, "float32", (1501,), "stream")
    results = []
    for cache_bytes in (0, 1):
        out = place_at(4, x.shape, x.dtype)
        out.array[...] = x
        inputs = [out] * len(contract.inputs)
        made = raw.layouts.call(contract, {}, [each.place for each in inputs], out.place)
        context = raw.Context(cache_bytes=cache_bytes)
        assert raw.call(host.value, contract.kernel("float32"), made.layout, b"", inputs, out, context) == raw.OK
        assert (out.surroundings() == raw.POISON).all()
        results.append(bits(out.array))
    assert np.array_equal(*results)
