"""Tests the CUDA plugin: the kernel table that it exports, which needs no GPU, and, on a GPU, all its kernels with the
inputs and expected results of the oracle."""

from __future__ import annotations

import ctypes

import judge
import numpy as np
import pytest
from generator import layouts, table
from plugin import CONTRACTS, LAUNCHED, Plugin

from lanewise import _ext
from native import binaries

BACKEND = "cuda"


def test_the_plugin_exports_only_the_table(library) -> None:
    assert binaries.read(library).exported == ("lanewise_kernels",)


def test_the_head_is_readable_without_a_gpu(plugin: Plugin) -> None:
    head = plugin.head
    assert head.abi_version == _ext.abi_version()
    assert head.kernel_count == len(plugin.kernels)
    assert head.signature == table.signature(CONTRACTS)
    assert head.name == b"cuda"
    assert head.cpu_features == 1 << 9
    for name, _ in head.memory._fields_:
        assert ctypes.cast(getattr(head.memory, name), ctypes.c_void_p).value, f"memory.{name} is NULL"


def test_the_table_has_elementwise_kernels_and_null_for_others(plugin: Plugin) -> None:
    for contract in CONTRACTS:
        for kernel in contract.kernels:
            assert bool(plugin.kernels[kernel.name]) == (contract.kind.name in LAUNCHED), kernel.name


def test_a_missing_gpu_is_reported(plugin: Plugin) -> None:
    reason = plugin.missing_gpu()
    assert not reason or reason.startswith("allocate: ")


def test_oracle(gpu: Plugin, contract, oracle) -> None:
    started = []
    for case in oracle.cases:
        if BACKEND in case.excused or not case.kernel:
            continue
        inputs = [judge.as_array(each) for each in case.inputs]
        shape, dtype = case.reference.shape, np.dtype(case.result_dtype)
        started.append((case, gpu.start(case.kernel, case.layout, inputs, shape, dtype, case.scalars)))
    complaints = [judge.complaint(case, result(), BACKEND) for case, result in started]
    complaints = [each for each in complaints if each]
    assert not complaints, f"{len(complaints)} of {len(started)} cases: {complaints[:5]}"


def layout_of(shape: tuple[int, ...], *strides: tuple[int, ...]) -> bytes:
    """Returns the bytes of an lw_layout: a shape, and the strides of each operand."""
    return layouts._pack(shape, strides, 0)


@pytest.mark.parametrize("size", [1, 3, 4, 5, 1023, 100_003])
@pytest.mark.parametrize("offset", [0, 4, 8, 16])
def test_an_unaligned_input_may_also_be_the_result(gpu: Plugin, size: int, offset: int) -> None:
    x, y = np.random.default_rng(size).normal(size=(2, size + 8)).astype(np.float32)
    first, second = gpu.upload(x), gpu.upload(y)
    gpu.launch("multiply_float32", layout_of((size,), (4,), (4,), (4,)), [first + offset, second], first + offset)
    at = slice(offset // 4, offset // 4 + size)
    expected = x.copy()
    expected[at] *= y[:size]
    np.testing.assert_array_equal(gpu.download(first, np.empty_like(x)), expected)
    for each in (first, second):
        gpu.head.memory.release(gpu.context, each)


def test_strides_of_every_sign(gpu: Plugin) -> None:
    x = np.random.default_rng(1).normal(size=(7, 40, 9)).astype(np.float32)
    view = x[::-1, 3:30:2, ::-4]
    first, out = gpu.upload(x), gpu.allocate(view.size * 4)
    start = view.__array_interface__["data"][0] - x.__array_interface__["data"][0]
    packed = np.empty(view.shape, np.float32).strides
    gpu.launch("negative_float32", layout_of(view.shape, view.strides, packed), [first + start], out)
    np.testing.assert_array_equal(gpu.download(out, np.empty(view.shape, np.float32)), -view)
    for each in (first, out):
        gpu.head.memory.release(gpu.context, each)


def test_more_than_2_to_the_31_elements(gpu: Plugin) -> None:
    size = 2**31 + 7
    out = gpu.head.memory.allocate(gpu.context, size)
    if not out:
        pytest.skip(f"no room for {size} bytes: {gpu.message}")
    flag = gpu.upload(np.zeros(1, np.bool_))
    gpu.launch("logical_not_bool", layout_of((size,), (0,), (1,)), [flag], out)
    assert gpu.download(out, np.zeros(size, np.bool_)).all()
    for each in (flag, out):
        gpu.head.memory.release(gpu.context, each)
